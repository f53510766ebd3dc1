import cluster from 'node:cluster'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

// server.ts on all cores, behind one port. Each worker has keys and remembered tokens of its own, so the key endpoint sees as
// many clients as there are workers.

const WORKERS = Number(process.env['WORKERS'] ?? availableParallelism())
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

process.once('SIGTERM', () => {
  isEnding = true
  // Each answers what it has, and ends.
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGTERM')
})
