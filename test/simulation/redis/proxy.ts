import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/**
 * - `pass`: everything goes through, after `delay`.
 * - `swallow`: connections stay open and new ones are taken, but nothing goes through, also afterwards: half-open.
 * - `refuse`: there is nobody behind it: connections are reset.
 */
type Mode = 'pass' | 'swallow' | 'refuse'

/** A way to a server that can be disturbed. Its port stays the same, whatever server is behind it. */
export interface Proxy extends AsyncDisposable {
  readonly port: number
  readonly url: string
  /** The port of the server. Connections that are open stay with the one before. */
  target: number
  mode: Mode
  /** Seconds, each way. */
  delay: number
  /** Resets all that are open. */
  cut(): void
  /** Resets the connection that brings the next reply of at least so many octets, when half of it has gone through. */
  cutNextReply(atLeast: number): Promise<void>
}

export async function startProxy(target: number): Promise<Proxy> {
  const sockets = new Set<Socket>()
  let cutting: { readonly atLeast: number; readonly done: () => void } | undefined

  const server = createServer((client) => {
    if (proxy.mode === 'refuse') {
      client.resetAndDestroy()
      return
    }
    const behind = connect(proxy.target, '127.0.0.1')
    const both = [client, behind]
    for (const socket of both) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        // While nothing goes through, nor does the end of a connection.
        if (proxy.mode !== 'swallow') for (const each of both) each.destroy()
      })
    }
    forward(client, behind, (chunk) => chunk)
    forward(behind, client, (chunk) => {
      if (cutting === undefined || chunk.length < cutting.atLeast) return chunk
      const { done } = cutting
      cutting = undefined
      client.write(chunk.subarray(0, chunk.length / 2), () => {
        client.resetAndDestroy()
        done()
      })
      return undefined
    })
  })

  /** `read` answers what goes through of a chunk. */
  function forward(from: Socket, to: Socket, read: (chunk: Buffer) => Buffer | undefined): void {
    let due = 0
    const queue: Buffer[] = []
    // What is lacking of a stream of octets cannot be left out.
    let isLost = false
    const sendNext = () => {
      const chunk = queue.shift()
      isLost ||= proxy.mode === 'swallow'
      if (chunk === undefined || isLost) return
      const passed = read(chunk)
      if (passed !== undefined) to.write(passed)
    }
    from.on('data', (chunk: Buffer) => {
      const now = performance.now()
      // In their order, also when the delay becomes shorter.
      due = Math.max(due, now + proxy.delay * 1000)
      queue.push(chunk)
      if (due <= now && queue.length === 1) sendNext()
      else setTimeout(sendNext, due - now).unref()
    })
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const { port } = address
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  const proxy: Proxy = {
    port,
    url: `redis://127.0.0.1:${port}`,
    target,
    mode: 'pass',
    delay: 0,
    cut,
    async cutNextReply(atLeast) {
      await new Promise<void>((done) => {
        cutting = { atLeast, done }
      })
    },
    async [Symbol.asyncDispose]() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}
