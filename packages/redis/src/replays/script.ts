import { createHash } from 'node:crypto'

import type { DpopProof, ReplayAnswer } from '@portcullis/core'

// What Redis does with a used proof, in Lua and in one atomic step, and what it is given and answers.

/** Seconds that a counter stands for. A proof counts until its counter is over: that long too long at the most. */
const COUNTED = 30

/**
 * Looks for a proof and remembers it, in one step. Proofs of a key are a sorted set, by when they may be forgotten; how many there are
 * in all is a sum of counters by that time, which lapse only when all that they counted have. Times are the store's alone: its clock
 * may differ from others. `ZADD` is the first command that writes: a store without memory refuses that, and no later one of a script.
 */
export const SCRIPT: string = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local key, proof = KEYS[1], ARGV[1]
local ttl, max, maxPerKey, counters = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
if redis.call('ZSCORE', key, proof) then return 'replayed' end
local past = string.format('%d', now)
if redis.call('ZCOUNT', key, '(' .. past, '+inf') >= maxPerKey then return 'full' end
local width = ${COUNTED} * 1000
local first, last = math.floor(now / width), math.floor((now + ttl) / width)
local names = {}
for at = first, math.max(last, first + ${Math.ceil(3660 / COUNTED)}) do
  names[#names + 1] = counters .. string.format('%d', at)
end
local total = 0
for _, count in ipairs(redis.call('MGET', unpack(names))) do
  if count then total = total + tonumber(count) end
end
if total >= max then return 'full' end
redis.call('ZADD', key, string.format('%d', now + ttl), proof)
redis.call('ZREMRANGEBYSCORE', key, '-inf', past)
if redis.call('PTTL', key) < ttl then redis.call('PEXPIRE', key, ttl) end
local counter = counters .. string.format('%d', last)
redis.call('INCR', counter)
redis.call('PEXPIREAT', counter, string.format('%d', (last + 1) * width))
return 'new'`

export const SCRIPT_HASH: string = createHash('sha1').update(SCRIPT).digest('hex')

/** How long clocks of processes, and that of the store, may differ or be set: a proof is kept so much longer. Seconds. */
const MARGIN = 60
/** Seconds. Nobody accepts proofs of that age. */
const LONGEST = 3600

/** The arguments of the script: `undefined` for a proof that cannot be kept as long as it should be. */
export function scriptArguments(
  { jkt, jti, expires }: DpopProof,
  now: number,
  { prefix, max, maxPerKey }: { prefix: string; max: number; maxPerKey: number },
): readonly string[] | undefined {
  const left = Math.max(0, expires - now)
  if (!(left <= LONGEST)) return undefined
  const ttl = Math.ceil((left + MARGIN) * 1000)
  // With braces, all keys are in one place of a store that is a cluster behind its address.
  const name = `{${prefix}}:`
  return [
    '1',
    `${name}key:${digest(jkt)}`,
    digest(jti),
    String(ttl),
    String(max),
    String(maxPerKey),
    `${name}count:`,
  ]
}

/** Of one length, whatever the sender writes. 128 bits: whoever finds two texts with one digest spoils a proof of their own. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url')
}

const ANSWERS: readonly unknown[] = ['new', 'replayed', 'full'] satisfies readonly ReplayAnswer[]

export function isAnswer(reply: unknown): reply is 'new' | 'replayed' | 'full' {
  return ANSWERS.includes(reply)
}
