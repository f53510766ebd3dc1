import { once } from 'node:events'
import { connect } from 'node:net'

/** One connection for thousands of requests, which shows every octet of the answers. */
export interface Connection extends Disposable {
  /** Sends one character for one octet, and answers with all that comes back but the date. */
  ask(authorization: string): Promise<string>
}

export async function connectTo(port: number): Promise<Connection> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const chunks = (socket as AsyncIterable<Buffer>)[Symbol.asyncIterator]() // no encoding is set
  let received = ''

  async function read(): Promise<void> {
    const chunk = await chunks.next()
    if (chunk.done === true) throw new Error(`the connection ended after: ${received}`)
    received += chunk.value.toString('latin1')
  }

  async function ask(authorization: string): Promise<string> {
    const request = ['GET / HTTP/1.1', 'Host: api', `Authorization: ${authorization}`, '', '']
    socket.write(Buffer.from(request.join('\r\n'), 'latin1'))
    while (!received.includes('\r\n\r\n')) await read()
    const start = received.indexOf('\r\n\r\n') + 4
    const length = Number(/^content-length: (\d+)\r$/im.exec(received)?.[1])
    while (received.length < start + length) await read()
    const answer = received
    received = ''
    return answer.replace(/^date: .*\r\n/im, '')
  }

  return {
    ask,
    [Symbol.dispose]() {
      socket.destroy()
    },
  }
}
