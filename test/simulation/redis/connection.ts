import { once } from 'node:events'
import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

import type { Certificate } from '../../certificate.ts'

// The protocol of Redis in a page, so that what tests write and read does not pass through the client library that is
// being tested.

export interface Connection {
  /** @throws Error with what the server says */
  command(...words: readonly (string | number)[]): Promise<unknown>
  close(): void
}

export async function connect(port: number, certificate?: Certificate): Promise<Connection> {
  const socket =
    certificate === undefined
      ? connectPlain(port, '127.0.0.1')
      : connectTls({ port, host: '127.0.0.1', ca: certificate.cert })
  await once(socket, certificate === undefined ? 'connect' : 'secureConnect')
  return speak(socket)
}

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
}

function speak(socket: Socket): Connection {
  const waiting: Waiting[] = []
  let unread = Buffer.alloc(0)
  socket.on('data', (chunk) => {
    unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk])
    let at = 0
    for (let reply = readReply(unread, at); reply !== undefined; reply = readReply(unread, at)) {
      at = reply.end
      settle(waiting.shift(), reply.value)
    }
    unread = unread.subarray(at)
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    for (const each of waiting.splice(0)) each.reject(new Error('the connection has ended'))
  })

  async function command(...words: readonly (string | number)[]): Promise<unknown> {
    return await new Promise((resolve, reject) => {
      waiting.push({ resolve, reject })
      socket.write(encode(words))
    })
  }

  return { command, close: () => socket.destroy() }
}

function settle(receiver: Waiting | undefined, value: unknown): void {
  if (value instanceof Error) receiver?.reject(value)
  else receiver?.resolve(value)
}

function encode(words: readonly (string | number)[]): string {
  const parts = words.map((word) => `$${Buffer.byteLength(String(word))}\r\n${word}\r\n`)
  return `*${words.length}\r\n${parts.join('')}`
}

interface Reply {
  readonly value: unknown
  /** Where the next one begins. */
  readonly end: number
}

/** RESP2. Nothing, if it has not come as a whole. */
function readReply(octets: Buffer, start: number): Reply | undefined {
  const lineEnd = octets.indexOf('\r\n', start)
  if (lineEnd === -1) return undefined
  const text = octets.toString('utf8', start + 1, lineEnd)
  const end = lineEnd + 2
  switch (String.fromCharCode(octets[start] ?? 0)) {
    case '-':
      return { value: new Error(text), end }
    case ':':
      return { value: Number(text), end }
    case '$':
      return readText(octets, end, Number(text))
    case '*':
      return readList(octets, end, Number(text))
    default:
      return { value: text, end }
  }
}

function readText(octets: Buffer, start: number, length: number): Reply | undefined {
  if (length === -1) return { value: null, end: start }
  if (octets.length < start + length + 2) return undefined
  return { value: octets.toString('utf8', start, start + length), end: start + length + 2 }
}

function readList(octets: Buffer, start: number, length: number): Reply | undefined {
  const value: unknown[] = []
  let end = start
  for (let index = 0; index < length; index += 1) {
    const reply = readReply(octets, end)
    if (reply === undefined) return undefined
    value.push(reply.value)
    end = reply.end
  }
  return { value: length === -1 ? null : value, end }
}
