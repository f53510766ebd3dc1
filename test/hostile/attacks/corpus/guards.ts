import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An address that nobody must ask anything. */
export interface Canary extends AsyncDisposable {
  readonly url: string
  /** Connections, whatever was said on them. */
  readonly visits: number
}

export async function startCanary(): Promise<Canary> {
  let visits = 0
  const server = createServer((_request, response) => response.end('{"keys":[]}'))
  server.on('connection', () => visits++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    get visits() {
      return visits
    },
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** What Node says when a socket is opened or its own `fetch` begins: nothing needs to be replaced to hear of it. */
const CHANNELS = ['net.client.socket', 'http.client.request.start', 'undici:request:create']

export interface NetworkWatch extends Disposable {
  readonly seen: readonly string[]
}

export function watchNetwork(): NetworkWatch {
  const seen: string[] = []
  const hear = (_message: unknown, name: string | symbol) => seen.push(String(name))
  for (const channel of CHANNELS) subscribe(channel, hear)
  return {
    seen,
    [Symbol.dispose]() {
      for (const channel of CHANNELS) unsubscribe(channel, hear)
    },
  }
}

const EVENTS = ['unhandledRejection', 'uncaughtExceptionMonitor', 'warning'] as const

export interface ProcessWatch extends Disposable {
  readonly seen: readonly string[]
}

/** What the process says about failures that nobody has handled. */
export function watchProcess(): ProcessWatch {
  const seen: string[] = []
  const listeners = EVENTS.map((event) => ({
    event,
    hear: (fault: unknown) => void seen.push(`${event}: ${String(fault)}`),
  }))
  for (const { event, hear } of listeners) process.on(event, hear)
  return {
    seen,
    [Symbol.dispose]() {
      for (const { event, hear } of listeners) process.off(event, hear)
    },
  }
}

const SHARED: readonly object[] = [
  Object.prototype,
  Array.prototype,
  Function.prototype,
  String.prototype,
  Number.prototype,
  Boolean.prototype,
  Promise.prototype,
  Map.prototype,
  Error.prototype,
  RegExp.prototype,
  Buffer.prototype,
  Object,
  globalThis,
]

/** The own members of everything that all code shares, as text: equal before and after. */
export function sharedMembers(): string {
  return SHARED.map((each) => Reflect.ownKeys(each).map(String).join()).join('\n')
}
