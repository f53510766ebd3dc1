import { once } from 'node:events'
import { Agent, createServer, type RequestListener, request } from 'node:http'
import type { AddressInfo } from 'node:net'

import type { Asked } from './tree.ts'

// A server for one application, and what a stranger sends to it, one request after the other.

export function connect(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return {
    send: async ({ method, path }: Asked): Promise<void> => {
      const sent = request({ port, host: '127.0.0.1', agent, method, path }).end()
      const [answer] = (await once(sent, 'response')) as [NodeJS.ReadableStream]
      answer.resume()
      await once(answer, 'end')
    },
    close: (): void => {
      agent.destroy()
    },
  }
}

export async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { send, close } = connect((server.address() as AddressInfo).port)
  return {
    send,
    async close(): Promise<void> {
      close()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
