import { vi } from 'vitest'

import { describeWith } from '../../describe-with.ts'
import { PROGRAM } from './redis-server.ts'
import { SENTINEL } from './sentinels.ts'

// They wait for real time, several of them at once.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

/** Tests with a real server. */
export const describeWithRedis = describeWith(PROGRAM)
/** The same with sentinels. */
export const describeWithSentinel = describeWith(PROGRAM, SENTINEL)
