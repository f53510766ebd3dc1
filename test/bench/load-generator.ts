import { performance } from 'node:perf_hooks'

import { quantile } from './measure.ts'
import { connectRaw, type RawConnection } from './raw-connection.ts'

// The load of load.ts, in a process of its own: its parent sends pools of tokens first, then an order at a time.

/** Tokens of one key. */
export interface Pool {
  readonly repeated: readonly string[]
  /** More than any cache holds. */
  readonly fresh: readonly string[]
  readonly forged: readonly string[]
}

export interface Order {
  readonly port: number
  readonly seconds: number
  /** Requests a second. Absent: as many as are answered. */
  readonly rate?: number
  /** Forged ones beside them. */
  readonly forgedRate?: number
  /** Whether forged ones are let through as well: there is no guard. */
  readonly isOpen: boolean
  /** Which pool. */
  readonly pool: number
  /** Which pool new tokens come from in the second half. */
  readonly nextPool?: number
  /** To watch the clock all the time needs a core of its own; otherwise requests are sent once a millisecond. */
  readonly hasOwnCore: boolean
}

export interface Report {
  /** Requests a second that were answered, forged ones aside. */
  readonly rate: number
  /** Milliseconds from the time at which a request was due until it was answered, forged ones aside. */
  readonly p50: number
  readonly p99: number
  readonly p999: number
  /** Answers with another status than they should have. */
  readonly wrong: number
  /** How late the load itself noticed that a request was due: the 99th percentile, in milliseconds. */
  readonly lateness: number
}

/** @param share Of the time of the order, that is over. */
type NextRequest = (share: number) => Buffer

/** So many that those which wait for keys do not keep others from being sent. */
const CONNECTIONS = 256
/** Of whoever sends forged tokens. Some are answered late: a guard may wait for keys before it refuses. */
const FORGED_CONNECTIONS = 256
/** One token in so many is new. */
const NEW = 10

let pools: readonly RequestPool[] = []

interface RequestPool {
  readonly repeated: () => Buffer
  readonly fresh: () => Buffer
  readonly forged: () => Buffer
}

function requestPool({ repeated, fresh, forged }: Pool): RequestPool {
  return {
    repeated: inTurn(repeated),
    fresh: inTurn(fresh),
    forged: inTurn(forged),
  }
}

function inTurn(tokens: readonly string[]): () => Buffer {
  const requests = tokens.map((token) =>
    Buffer.from(
      `GET / HTTP/1.1\r\nhost: api.test\r\nauthorization: Bearer ${token}\r\n\r\n`,
      'latin1',
    ),
  )
  let index = 0
  return () => {
    const request = requests[index % requests.length]
    if (request === undefined) throw new RangeError('there are no tokens')
    index += 1
    return request
  }
}

function poolOf(index: number): RequestPool {
  const pool = pools[index]
  if (pool === undefined) throw new RangeError(`there is no pool ${index}`)
  return pool
}

function genuineRequests({ pool, nextPool = pool }: Order): NextRequest {
  let count = 0
  const [first, second] = [poolOf(pool), poolOf(nextPool)]
  return (share) => {
    count += 1
    if (count % NEW !== 0) return first.repeated()
    return (share < 0.5 ? first : second).fresh()
  }
}

async function connectAll(port: number, count: number): Promise<RawConnection[]> {
  return await Promise.all(Array.from({ length: count }, async () => await connectRaw(port)))
}

async function run(order: Order): Promise<Report> {
  const connections = await connectAll(order.port, CONNECTIONS)
  const flood = order.forgedRate === undefined ? undefined : await startFlood(order)
  try {
    const report = await (order.rate === undefined
      ? runClosed(order, connections)
      : runOpen(order, order.rate, connections))
    return { ...report, wrong: report.wrong + (flood?.stop() ?? 0) }
  } finally {
    for (const connection of connections) connection.close()
  }
}

/** Each connection sends its next request as soon as the last is answered. */
async function runClosed(order: Order, connections: readonly RawConnection[]): Promise<Report> {
  const next = genuineRequests(order)
  const milliseconds = order.seconds * 1000
  const start = performance.now()
  const latencies: number[] = []
  let wrong = 0
  const runOne = (connection: RawConnection, done: () => void): void => {
    const sentAt = performance.now()
    const share = (sentAt - start) / milliseconds
    if (share >= 1) {
      done()
      return
    }
    connection.send(next(share), (status) => {
      latencies.push(performance.now() - sentAt)
      if (status !== 200) wrong += 1
      runOne(connection, done)
    })
  }
  await Promise.all(
    connections.map(
      (connection) =>
        new Promise<void>((resolve) => {
          runOne(connection, resolve)
        }),
    ),
  )
  return reportOf(latencies, performance.now() - start, wrong, [])
}

/** Requests become due at a constant rate, whether those before have been answered or not. */
async function runOpen(
  order: Order,
  rate: number,
  connections: readonly RawConnection[],
): Promise<Report> {
  const next = genuineRequests(order)
  const milliseconds = order.seconds * 1000
  const idle = [...connections]
  const total = Math.floor(order.seconds * rate)
  const latencies: number[] = []
  const lateness: number[] = []
  let [due, sent, wrong] = [0, 0, 0]
  const start = performance.now()
  const dueAt = (index: number) => start + (index * 1000) / rate

  function dispatch(): void {
    for (; sent < due; sent += 1) {
      const connection = idle.pop()
      if (connection === undefined) return
      const at = dueAt(sent)
      connection.send(next((at - start) / milliseconds), (status) => {
        latencies.push(performance.now() - at)
        if (status !== 200) wrong += 1
        idle.push(connection)
        dispatch()
      })
    }
  }

  await new Promise<void>((resolve) => {
    const again = order.hasOwnCore ? () => setImmediate(tick) : () => setTimeout(tick, 1)
    function tick(): void {
      const now = performance.now()
      for (; due < total && dueAt(due) <= now; due += 1) lateness.push(now - dueAt(due))
      dispatch()
      if (latencies.length === total) resolve()
      else again()
    }
    tick()
  })
  return reportOf(latencies, performance.now() - start, wrong, lateness)
}

/** Sends forged tokens on connections of their own. While all of these wait for answers, it sends none. */
async function startFlood(order: Order): Promise<{ stop(): number }> {
  const { forgedRate = 0, pool, isOpen, port } = order
  const connections = await connectAll(port, FORGED_CONNECTIONS)
  const idle = [...connections]
  const { forged } = poolOf(pool)
  let [wrong, credit] = [0, 0]
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    credit += ((now - last) / 1000) * forgedRate
    last = now
    for (; credit >= 1; credit -= 1) {
      const connection = idle.pop()
      connection?.send(forged(), (status) => {
        if ((status === 200) !== isOpen) wrong += 1
        idle.push(connection)
      })
    }
  }, 1)
  return {
    stop() {
      clearInterval(timer)
      for (const connection of connections) connection.close()
      return wrong
    },
  }
}

function reportOf(
  latencies: readonly number[],
  milliseconds: number,
  wrong: number,
  lateness: readonly number[],
): Report {
  return {
    rate: (latencies.length / milliseconds) * 1000,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    p999: quantile(latencies, 0.999),
    wrong,
    lateness: quantile(lateness, 0.99),
  }
}

process.once('disconnect', () => {
  process.exit()
})
process.on('message', (message: readonly Pool[] | Order) => {
  if (!('port' in message)) {
    pools = message.map(requestPool)
    process.send?.('ready')
    return
  }
  void run(message).then((report) => process.send?.(report))
})
