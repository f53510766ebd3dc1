import { once } from 'node:events'
import { connect } from 'node:net'

/** A connection that has one request under way at most. */
export interface RawConnection {
  /** @param answered Is told the status. */
  send(request: Buffer, answered: (status: number) => void): void
  close(): void
}

/** Reads as much of HTTP/1.1 as servers of this folder write, so that the load costs little beside them. */
export async function connectRaw(port: number): Promise<RawConnection> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  socket.setEncoding('latin1')
  let text = ''
  let onAnswer: ((status: number) => void) | undefined
  socket.on('data', (chunk: string) => {
    text += chunk
    if (!isComplete(text)) return
    const status = Number(text.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length))
    const answered = onAnswer
    text = ''
    onAnswer = undefined
    answered?.(status)
  })
  let isClosed = false
  socket.on('close', () => {
    if (!isClosed) throw new Error('a server has closed a connection')
  })
  return {
    send(request, answered) {
      onAnswer = answered
      socket.write(request)
    },
    close() {
      isClosed = true
      socket.destroy()
    },
  }
}

function isComplete(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return false
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1]
  // Without one the body is in chunks, of which the last is empty.
  return length === undefined
    ? text.endsWith('\r\n0\r\n\r\n')
    : text.length >= end + 4 + Number(length)
}
