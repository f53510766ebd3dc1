import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  status: number
  challenge: string | undefined
  /** All of it but the date. */
  text: string
}

/** Sends header lines that HTTP libraries refuse to send, one character for one octet. */
export async function sendRaw(port: number, lines: readonly string[]): Promise<RawAnswer> {
  const socket = await open(port)
  const all = ['GET / HTTP/1.1', 'Host: api', ...lines, 'Connection: close', '', '']
  // Without an end of its own: Node gives no answer that comes later to who has ended the connection.
  socket.write(Buffer.from(all.join('\r\n'), 'latin1'))
  const chunks: Buffer[] = []
  for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString('latin1')
  return {
    status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1]),
    challenge: /^www-authenticate: (.*)\r$/im.exec(text)?.[1],
    text: text.replace(/^date: .*\r\n/im, ''),
  }
}

export async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}
