import { describeWith } from '../../describe-with.ts'
import { PROGRAM } from './redis-server.ts'
import { SENTINEL } from './sentinels.ts'

/** Tests with a real server. */
export const describeWithRedis = describeWith(PROGRAM)
/** The same with sentinels. */
export const describeWithSentinel = describeWith(PROGRAM, SENTINEL)
