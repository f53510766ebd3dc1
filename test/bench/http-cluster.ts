import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

import type { Message, Usage } from './http-server.ts'

// As http-server.ts, with one process for each core behind one port, or as many as WORKERS says.

const WORKERS = Number(process.env['WORKERS'] ?? availableParallelism())

cluster.setupPrimary({
  exec: fileURLToPath(new URL('./http-server.ts', import.meta.url)),
  args: process.argv.slice(2),
})
const workers = Array.from({ length: WORKERS }, () => cluster.fork())
const [first = {}] = await Promise.all(workers.map(nextMessage))

process.on('message', () => {
  void tellUsage()
})
process.once('disconnect', () => {
  for (const worker of workers) worker.disconnect()
})
process.send?.(first)

async function tellUsage(): Promise<void> {
  const usages = await Promise.all(workers.map(usageOf))
  const usage = {
    cpu: usages.reduce((sum, { cpu }) => sum + cpu, 0),
    busy: Math.max(...usages.map(({ busy }) => busy)),
  }
  process.send?.({ usage } satisfies Message)
}

async function usageOf(worker: Worker): Promise<Usage> {
  worker.send('usage')
  const { usage } = await nextMessage(worker)
  if (usage === undefined) throw new Error('a worker did not say what it used')
  return usage
}

async function nextMessage(worker: Worker): Promise<Message> {
  const [message] = (await once(worker, 'message')) as [Message] // http-server.ts sends nothing else
  return message
}
