import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'

import { onTestFinished } from 'vitest'

// A server that speaks as much of the protocol of Redis as a connection needs. It remembers what it was told.

export interface RespServer {
  readonly port: number
  /** What it was told, in the order of its coming. */
  readonly commands: readonly (readonly string[])[]
  /** Those who are connected. */
  readonly sockets: ReadonlySet<Socket>
}

/** @param reply What a command is answered with: a text, or a list of texts. */
export async function respServer(
  reply: (command: readonly string[]) => string | readonly string[] = () => 'OK',
): Promise<RespServer> {
  const commands: string[][] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => void sockets.delete(socket))
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      for (const command of commandsIn(chunk.toString())) {
        commands.push(command)
        const answer = reply(command)
        socket.write(typeof answer === 'string' ? `+${answer}\r\n` : written(answer))
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return { port: port ?? 0, commands, sockets }
}

/** A command is a list, and each of its words has its length before it. These words are short, and come in one piece. */
function commandsIn(text: string): string[][] {
  return text
    .split(/^\*\d+\r\n/m)
    .slice(1)
    .map((command) => [...command.matchAll(/^\$\d+\r\n(.*)\r\n/gm)].map(([, word = '']) => word))
}

function written(list: readonly string[]): string {
  const words = list.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`)
  return `*${list.length}\r\n${words.join('')}`
}

/** What a sentinel answers that knows a primary. */
export function sentinelOf(host: string, port: number) {
  return (command: readonly string[]) =>
    command[0] === 'SENTINEL' ? ['ip', host, 'port', String(port), 'config-epoch', '1'] : 'OK'
}
