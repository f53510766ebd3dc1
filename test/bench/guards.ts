import type { IncomingMessage, Server } from 'node:http'
import { duplexPair } from 'node:stream'
import { parseArgs } from 'node:util'

import { checkFloors, printGoals } from './check-floors.ts'
import { type Figures, GUARD_FLOORS } from './floors.ts'
import {
  serve,
  serveExpress,
  serveFastify,
  serveHono,
  serveKoa,
  serveNest,
  tokenOf,
} from './http-server.ts'
import { createSigner } from './inputs.ts'
import { listenForKeys } from './key-server.ts'
import { describeMachine } from './machine.ts'
import { type Cost, mainThread, measure, median, type Plan, type Task } from './measure.ts'
import { writeFigures } from './results.ts'
import { fastJwtCached } from './subjects.ts'
import { markdownTable } from './table.ts'

// What a guard adds to a request whose token was accepted before, in each framework. The servers are real, and their sockets are
// in memory: the kernel, whose time differs by 10 us from run to run, takes no part.
//
//   pnpm bench guards            the table
//   pnpm bench guards --check    ratios alone, against floors.ts
//   pnpm bench guards --write    the table of goals in README.md as well

const { values: flags } = parseArgs({
  options: { check: { type: 'boolean' }, write: { type: 'boolean' } },
})

const PLAN: Plan = flags.check
  ? { rounds: 9, milliseconds: 25, warmUp: 200, garbage: 'minor' }
  : { rounds: 21, milliseconds: 150, warmUp: 1000 }

const BODY = '{"ok":true}'
const signer = createSigner()
const token = signer.token(0)
const keyServer = await listenForKeys(signer.jwk)
const keys = { jwk: signer.jwk, urls: keyServer.urls }
const fast = fastJwtCached(keys)

/** What a guard has to do, and no more: it reads the header, and asks fast-jwt, which remembers the token. */
function verifyFast(authorization: string | undefined): unknown {
  return fast.verification(tokenOf(authorization))()
}

type Start = () => Promise<Server>

/** By framework: a guard that does nothing, and one with fast-jwt. */
const THIN: Readonly<Record<string, readonly [nothing: Start, fastJwt: Start]>> = {
  Express: [
    () =>
      serveExpress((_request, _response, next) => {
        next()
      }),
    () =>
      serveExpress((request, response, next) => {
        response.locals['auth'] = verifyFast(request.headers.authorization)
        next()
      }),
  ],
  Koa: [
    () =>
      serveKoa(async (_context, next) => {
        await next()
      }),
    () =>
      serveKoa(async (context, next) => {
        context.state['auth'] = verifyFast(context.headers.authorization)
        await next()
      }),
  ],
  Fastify: [
    () =>
      serveFastify((app) => {
        app.addHook('onRequest', (_request, _reply, done) => {
          done()
        })
      }),
    () =>
      serveFastify((app) => {
        app.decorateRequest('claims', null)
        app.addHook('onRequest', (request, _reply, done) => {
          request.setDecorator('claims', verifyFast(request.headers.authorization))
          done()
        })
      }),
  ],
  Hono: [
    () =>
      serveHono(async (_context, next) => {
        await next()
      }),
    () =>
      serveHono(async (context, next) => {
        context.set('auth', verifyFast(context.req.header('authorization')))
        await next()
      }),
  ],
  Nest: [
    () => serveNest({ canActivate: () => true }),
    () =>
      serveNest({
        canActivate(context) {
          const request = context.switchToHttp().getRequest<IncomingMessage>()
          Object.assign(request, { auth: verifyFast(request.headers.authorization) })
          return true
        },
      }),
  ],
}

/** Sends that many requests, one after the other, over one connection that is no socket of the kernel. */
function connect(server: Server): (count: number) => Promise<void> {
  server.keepAliveTimeout = 0
  const [client, socket] = duplexPair()
  server.emit('connection', socket)
  const request = `GET / HTTP/1.1\r\nhost: api.test\r\nauthorization: Bearer ${token}\r\n\r\n`
  let left = 0
  let finish: ((error?: Error) => void) | undefined
  client.on('data', (chunk: Buffer) => {
    const text = chunk.toString('latin1')
    if (text.startsWith('HTTP/') && !text.startsWith('HTTP/1.1 200 ')) {
      finish?.(new Error(text))
    }
    if (!text.endsWith(BODY)) return
    left -= 1
    if (left === 0) finish?.()
    else client.write(request)
  })
  return async (count) => {
    left = count
    await new Promise<void>((resolve, reject) => {
      finish = (error) => {
        if (error === undefined) resolve()
        else reject(error)
      }
      client.write(request)
    })
  }
}

interface Measured {
  readonly ours: number
  readonly fastJwt: number
  /** Of the whole request, with the guard that does nothing. */
  readonly request: number
}

const time = mainThread.isCpuTime ? 'main' : 'cpu'

/** Microseconds: what each guard adds to the one that does nothing, the median of the rounds. */
async function measureFramework(framework: string, servers: readonly Server[]): Promise<Measured> {
  const tasks = servers.map((server, index): Task => {
    const send = connect(server)
    return { name: `${framework} ${index}`, prepare: (count) => () => send(count) }
  })
  const costs = await measure(tasks, PLAN)
  const [nothing = [], ours = [], fastJwt = []] = tasks.map((task) => costs.get(task) ?? [])
  const added = (rounds: readonly Cost[]) =>
    median(rounds.map((cost, round) => cost[time] - (nothing[round]?.[time] ?? Number.NaN)))
  return {
    ours: added(ours),
    fastJwt: added(fastJwt),
    request: median(nothing.map((cost) => cost[time])),
  }
}

const servers = new Map<string, readonly Server[]>()
for (const [framework, [nothing, fastJwt]] of Object.entries(THIN)) {
  servers.set(framework, [
    await nothing(),
    await serve(framework, 'Portcullis', keys),
    await fastJwt(),
  ])
}

async function measureAll(): Promise<ReadonlyMap<string, Measured>> {
  const results = new Map<string, Measured>()
  for (const [framework, each] of servers) {
    results.set(framework, await measureFramework(framework, each))
  }
  return results
}

function figuresOf(results: ReadonlyMap<string, Measured>): Figures {
  return new Map(
    GUARD_FLOORS.map(({ figure }) => {
      const { ours, fastJwt } = results.get(figure.split(':')[0] ?? '') ?? {}
      return [figure, (ours ?? Number.NaN) / (fastJwt ?? Number.NaN)]
    }),
  )
}

console.log(`${describeMachine()}\nMain thread by ${mainThread.name}.\n`)
if (flags.check) {
  checkFloors(GUARD_FLOORS, figuresOf(await measureAll()))
} else {
  const results = await measureAll()
  const rows = [...results].map(([framework, { ours, fastJwt, request }]) => [
    framework,
    ours.toFixed(2),
    fastJwt.toFixed(2),
    request.toFixed(1),
  ])
  const header = ['Microseconds', 'our guard adds', "fast-jwt's cache adds", 'the request without']
  console.log(markdownTable(header, rows))
  const figures = figuresOf(results)
  printGoals(GUARD_FLOORS, figures)
  if (flags.write) writeFigures('bench guards', describeMachine(), figures)
}
for (const each of [...servers.values()].flat()) each.close()
keyServer.close()
process.exit()
