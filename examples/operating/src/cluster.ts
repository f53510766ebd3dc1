import cluster from 'node:cluster'
import { createServer } from 'node:http'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

import { AggregatorRegistry } from 'prom-client'

// server.ts on all cores, behind one port. Each worker has keys and remembered tokens of its own, so the key endpoint sees as
// many clients as there are workers. Their metrics are put together on a port of the primary.

const WORKERS = Number(process.env['WORKERS'] ?? availableParallelism())
const METRICS_PORT = Number(process.env['METRICS_PORT'] ?? 3001)
/** A worker that dies at once is not started again in a tight loop. Milliseconds. */
const RESTART_PAUSE = 1000
let isEnding = false

cluster.setupPrimary({ exec: fileURLToPath(new URL('server.ts', import.meta.url)) })
for (let count = 0; count < WORKERS; count++) cluster.fork()

cluster.on('listening', ({ process: { pid } }, { port }) => {
  console.log(`worker ${pid}: http://127.0.0.1:${port}`)
})
cluster.on('exit', () => {
  if (isEnding) return
  setTimeout(() => {
    if (!isEnding) cluster.fork()
  }, RESTART_PAUSE)
})

// For the inside alone: let no proxy show it to strangers.
const registry = new AggregatorRegistry()
const metrics = createServer((_request, response) => {
  registry.clusterMetrics().then(
    (text) => response.setHeader('content-type', registry.contentType).end(text),
    // A worker that has just ended does not answer.
    () => response.writeHead(503).end(),
  )
})
metrics.listen(METRICS_PORT, '127.0.0.1', () => {
  const address = metrics.address()
  const port = typeof address === 'object' ? address?.port : address
  console.log(`metrics: http://127.0.0.1:${port}`)
})

process.once('SIGTERM', () => {
  isEnding = true
  metrics.close()
  // Each answers what it has, and ends.
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGTERM')
})
