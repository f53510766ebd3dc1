import { once } from 'node:events'

import { forkPinned } from './guarded-server.ts'
import type { Message } from './http-server.ts'
import type { Order, Pool, Report } from './load-generator.ts'

/** Gives orders to a load generator, and hands back what it reports. */
export interface Generator {
  run(order: Order): Promise<Report>
  stop(): void
}

/** @param cores As `taskset` names them. Absent: all. */
export async function startGenerator(
  pools: readonly Pool[],
  cores: string | undefined,
): Promise<Generator> {
  const child = forkPinned('./load-generator.ts', [], { cores })
  child.send(pools)
  await once(child, 'message')
  return {
    async run(order) {
      child.send(order)
      const [report] = (await once(child, 'message')) as [Report] // it sends nothing else
      return report
    },
    stop() {
      child.disconnect()
    },
  }
}

/** What the load itself can do, against a server that does nothing: requests a second. */
export async function limitOf(
  generator: Generator,
  coresOfServer: string | undefined,
  seconds: number,
): Promise<number> {
  const child = forkPinned('./bare-server.ts', [], { cores: coresOfServer })
  const [{ port = 0 }] = (await once(child, 'message')) as [Message] // it sends nothing else
  const order = { port, seconds, isOpen: true, pool: 0, hasOwnCore: true }
  await generator.run(order)
  const { rate } = await generator.run(order)
  child.disconnect()
  return rate
}
