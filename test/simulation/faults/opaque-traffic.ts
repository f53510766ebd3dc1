import { AuthError } from '@portcullis/core'
import type { IntrospectedOptions } from '@portcullis/introspection'
import { type ManualClock, manualClock } from '@portcullis/testing'

import { createIntrospected } from '../../../packages/introspection/src/introspected.ts'
import { type Random, seededRandom } from '../../bench/random.ts'

// Callers with opaque tokens who come at random moments, and an issuer whose answers take as long as it pleases: what share of the
// callers gets in. Where an invented and a genuine token come together one hides what becomes of the other, so nothing here is in step.

const ISSUER = 'https://issuer.test'

/** What the issuer does with a question: after so many seconds it answers, or the connection is reset. `never`: it hangs. */
export interface Reply {
  readonly after: number | 'never'
  readonly with: () => Response
}

export interface Traffic {
  readonly clock: ManualClock
  readonly random: Random
  /** What is answered about a token. By default each is active, after about 0.1 s. */
  reply: (token: string) => Reply
  /** When each question came, and about which token. */
  readonly asked: readonly { readonly at: number; readonly token: string }[]
  /** Lets tokens come, so many a second on average, each at a moment of its own. It goes on for ever. */
  arrive(perSecond: number, present: () => void): void
  /** Presents a token, and counts what becomes of it under that name. */
  present(kind: string, token: string): void
  /** How many requests of a kind were settled with each word, since the last call. */
  take(kind: string): Tally
}

interface Tally {
  readonly total: number
  readonly accepted: number
  /** Refused with 503. */
  readonly unavailable: number
}

/** An answer that a token is active, after so many seconds: from the half to one and a half times as many. */
export function active(traffic: Pick<Traffic, 'random'>, seconds: number): Reply {
  return {
    after: seconds * (0.5 + traffic.random()),
    with: () => Response.json({ active: true, iss: ISSUER, sub: 'ada', token_type: 'Bearer' }),
  }
}

export function createTraffic(seed: number): Traffic {
  const clock = manualClock()
  const random = seededRandom(seed)
  const asked: { at: number; token: string }[] = []
  const words = new Map<string, string[]>()
  const options: IntrospectedOptions = {
    issuer: ISSUER,
    audience: null,
    endpoint: `${ISSUER}/introspect`,
    clientId: 'api',
    clientSecret: 'secret',
    clock,
    async fetch(_url, { body, signal }) {
      const token = body?.get('token') ?? ''
      asked.push({ at: clock.monotonic(), token })
      const reply = traffic.reply(token)
      await new Promise<void>((resolve, reject) => {
        const cancel = reply.after === 'never' ? undefined : clock.after(reply.after, resolve)
        signal.addEventListener('abort', () => {
          cancel?.()
          reject(new Error('aborted'))
        })
      })
      return reply.with()
    },
  }
  const verifier = createIntrospected(options, random)

  async function settle(kind: string, token: string): Promise<void> {
    let word = 'accepted'
    try {
      await verifier.verify(token)
    } catch (error) {
      word = error instanceof AuthError ? error.code : String(error)
    }
    const found = words.get(kind)
    if (found === undefined) words.set(kind, [word])
    else found.push(word)
  }

  const traffic: Traffic = {
    clock,
    random,
    reply: () => active(traffic, 0.1),
    asked,
    arrive(perSecond, present) {
      // The times between arrivals that know nothing of each other.
      clock.after(-Math.log(1 - random()) / perSecond, () => {
        present()
        traffic.arrive(perSecond, present)
      })
    },
    present(kind, token) {
      void settle(kind, token)
    },
    take(kind) {
      const found = words.get(kind) ?? []
      words.delete(kind)
      const count = (word: string) => found.filter((each) => each === word).length
      return {
        total: found.length,
        accepted: count('accepted'),
        unavailable: count('introspection_unavailable'),
      }
    },
  }
  return traffic
}
