import { once } from 'node:events'
import { createServer } from 'node:net'

import type { Message } from './http-server.ts'

// Answers every request with the same octets, without reading it: the least that any server can cost, to see how many
// requests the load can make.

const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{"ok":true}'

const server = createServer((socket) => {
  socket.setNoDelay(true)
  socket.on('data', () => socket.write(ANSWER))
  socket.on('error', () => {})
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.once('disconnect', () => {
  process.exit()
})
const address = server.address()
if (address === null || typeof address === 'string') throw new TypeError('not a port')
process.send?.({ port: address.port } satisfies Message)
