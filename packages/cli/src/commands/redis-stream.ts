import type { Command } from 'commander'

import { orUsage } from '../keys/key-choice.ts'
import * as flags from '../serve/flags.ts'
import { usageError } from '../surroundings/exit-code.ts'
import type { Context } from '../surroundings/terminal.ts'

// How commands reach the Redis stream of revocations: `revoke` writes to it, `explain` asks it.

export interface StreamOptions {
  readonly redisUrl?: string
  readonly stream?: string
}

export function takesStream(command: Command): Command {
  return command
    .option('--redis-url <url>', 'where the stream is (default: REDIS_URL, which ps does not show)')
    .option('--stream <key>', 'its key (default: portcullis:revocations)', flags.notEmpty)
}

export function redisUrlOf({ redisUrl }: StreamOptions, { env }: Context): string {
  const url = redisUrl ?? env['REDIS_URL'] ?? ''
  if (url !== '') return url
  throw usageError(
    'state --redis-url or REDIS_URL: a token service keeps no list of what is revoked, APIs follow a Redis stream with @portcullis/redis',
  )
}

/** Whoever calls it closes them. */
export async function openStream(options: StreamOptions, context: Context) {
  const url = redisUrlOf(options, context)
  // Here, since it takes a tenth of a second that the other commands need not wait for.
  const { redisRevocations } = await import('@portcullis/redis')
  return await orUsage(() =>
    redisRevocations({ url, stream: options.stream, clock: context.clock }),
  )
}
