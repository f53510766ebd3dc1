import cluster from 'node:cluster'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'

import { AggregatorRegistry } from 'prom-client'

// The primary of two workers: it shows what prom-client makes of their metrics, replaces one when it is told to, and ends with its
// parent.

const registry = new AggregatorRegistry()
cluster.setupPrimary({ exec: fileURLToPath(new URL('worker.ts', import.meta.url)) })
cluster.fork()
cluster.fork()

process.on('disconnect', () => {
  cluster.removeAllListeners('exit')
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL')
  process.exit()
})
process.on('message', () => {
  Object.values(cluster.workers ?? {})[0]?.process.kill('SIGKILL')
})
cluster.on('exit', (_worker, _code, signal) => {
  // Without both there is nothing to see.
  if (signal !== 'SIGKILL') process.exit(1)
  cluster.fork()
})

let listening = 0
let api = 0
const both = new Promise<void>((resolve) => {
  cluster.on('listening', (_worker, { port }) => {
    api = port
    if (++listening === 2) resolve()
  })
})
const server = createServer((_request, response) => {
  registry.clusterMetrics().then(
    (text) => response.end(text),
    () => response.writeHead(500).end(),
  )
}).listen(0, '127.0.0.1')
await Promise.all([both, once(server, 'listening')])
const { port } = server.address() as AddressInfo // it listens on a port
process.send?.({ api, metrics: port })
