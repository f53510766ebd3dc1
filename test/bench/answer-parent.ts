import type { Server } from 'node:http'
import { performance } from 'node:perf_hooks'

/** What a server in a process of its own tells its parent. */
export interface Message {
  readonly port?: number
  readonly usage?: Usage
}

/** Since it was asked last. Microseconds of CPU time in all threads, and the busy share of the event loop. */
export interface Usage {
  readonly cpu: number
  readonly busy: number
}

/** Says where it listens, and what it used whenever the parent asks, until the parent goes. */
export function answerParent(server: Server): void {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('not a port')
  let cpu = process.cpuUsage()
  let loop = performance.eventLoopUtilization()
  process.on('message', () => {
    const { user, system } = process.cpuUsage(cpu)
    const now = performance.eventLoopUtilization()
    const busy = performance.eventLoopUtilization(now, loop).utilization
    cpu = process.cpuUsage()
    loop = now
    tell({ usage: { cpu: user + system, busy } })
  })
  process.once('disconnect', () => process.exit())
  tell({ port: address.port })
}

function tell(message: Message): void {
  process.send?.(message)
}
