import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'

import { parseUnambiguousObject } from '@portcullis/kit/json'
import { type ManualClock, manualClock } from '@portcullis/testing'
import { describe, expect, onTestFinished, test } from 'vitest'

import {
  createVerifier,
  localRevocations,
  type Verifier,
  type VerifyMessage,
} from '../../src/index.ts'
import { readKeyDocument } from '../../src/keys/key-document.ts'
import { type KeyRing, keySource } from '../../src/keys/key-source.ts'
import { AuthError } from '../../src/refusal/errors.ts'
import type { Revocations } from '../../src/revocation/revocations.ts'
import { timeReading } from '../../src/token/event-loop.ts'
import { createProvenVerifier } from '../../src/verifier/proven-verifier.ts'
import type { ProvenToken } from '../../src/verifier/token-prover.ts'
import type { SchemaOptions } from '../../src/verifier/verifier-options.ts'

// What may happen to a token between the steps of its verdict. The order of the steps is one, so each row holds for tokens that a key
// proves as for those of which their issuer says what they are.

const START = 1_795_341_600
const CLAIMS = { iss: 'https://a.example', jti: '1', exp: START + 60 }

type Options = Partial<SchemaOptions<unknown>> & { readonly revocations?: Revocations }

interface World {
  readonly token: string
  readonly clock: ManualClock
  verifier(options: Options): Verifier<unknown>
  /** The proof may be used no longer. Whoever asks for another one gets it. */
  end(): void
  /** As `end`, but whoever asks hears that the token is not proven. */
  contradict(): void
  /** As `end`, but nobody can tell. */
  fail(): void
  /** How long whoever is asked for a proof takes. Seconds. */
  delay: number
  /** How often somebody had to be asked for a proof, since none could be recalled. */
  readonly asked: number
}

function ringOf(key: KeyObject): KeyRing {
  const ring = readKeyDocument(key.export({ format: 'jwk' }))
  if (ring === undefined) throw new TypeError('the document of this test is not usable')
  return ring
}

const [ada, bob] = [1, 2].map(() => generateKeyPairSync('ec', { namedCurve: 'P-256' })) as [
  { privateKey: KeyObject; publicKey: KeyObject },
  { privateKey: KeyObject; publicKey: KeyObject },
]
const input = [{ alg: 'ES256' }, CLAIMS]
  .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  .join('.')
const signature = sign('sha256', Buffer.from(input), {
  key: ada.privateKey,
  dsaEncoding: 'ieee-p1363',
})
const jwt = `${input}.${signature.toString('base64url')}`

/** Keys of which some are too old to be used: then they have to be waited for. */
function provenByKeys(remember: false | { max: number }): World {
  const clock = manualClock(START)
  const [adas, bobs] = [ringOf(ada.publicKey), ringOf(bob.publicKey)]
  let asked = 0
  let ring: KeyRing | undefined = adas
  let next: () => KeyRing = () => adas
  const keys = keySource({
    now: () => ({ wall: clock.now(), monotonic: clock.monotonic() }),
    current: () => ring,
    async wait() {
      asked += 1
      await clock.advance(world.delay)
      ring = next()
      return ring
    },
    suspect: async (suspicion) => ({ key: undefined, why: undefined, ring: suspicion.ring }),
  })
  const world: World = {
    delay: 0,
    token: jwt,
    clock,
    verifier: (options) =>
      createVerifier({ keys, issuer: null, audience: null, remember, ...options } as never),
    end() {
      ring = undefined
    },
    contradict() {
      ring = bobs
    },
    fail() {
      ring = undefined
      next = () => {
        throw new AuthError('keys_unavailable', 'unreachable')
      }
    },
    get asked() {
      return asked
    },
  }
  return world
}

function provenBySaying(): World {
  const clock = manualClock(START)
  let asked = 0
  let held: ProvenToken | undefined = said()
  let next: () => ProvenToken = said
  const prover = {
    recall: () => held,
    async prove() {
      asked += 1
      await clock.advance(world.delay)
      held = next()
      return held
    },
    check: () => false,
    stands: (_token: string, proven: ProvenToken) => proven === held,
    late: () => new AuthError('introspection_unavailable', 'timeout'),
    ready: async () => {},
  }
  const world: World = {
    delay: 0,
    token: 'opaque',
    clock,
    verifier: (options) =>
      createProvenVerifier(prover, { issuer: null, audience: null, clock, ...options }),
    end() {
      held = undefined
    },
    contradict() {
      held = undefined
      next = () => {
        throw new AuthError('invalid_token', 'inactive')
      }
    },
    fail() {
      held = undefined
      next = () => {
        throw new AuthError('introspection_unavailable', 'unreachable')
      }
    },
    get asked() {
      return asked
    },
  }
  return world
}

function said(): ProvenToken {
  const claims = parseUnambiguousObject(Buffer.from(JSON.stringify(CLAIMS)))
  if (claims === undefined) throw new TypeError('the claims of this test are not readable')
  return { claims, header: Object.freeze({ alg: 'opaque' }) }
}

async function verdictOf(verdict: Promise<unknown>): Promise<string> {
  try {
    await verdict
    return 'accepted'
  } catch (error) {
    return error instanceof AuthError ? `${error.code} ${error.reason}` : String(error)
  }
}

const REMEMBERED = 'a key, remembered'
const KINDS: readonly [kind: string, make: () => World, no: string, unavailable: string][] = [
  [REMEMBERED, () => provenByKeys({ max: 10 }), 'invalid_token signature', 'keys_unavailable'],
  [
    'a key, not remembered',
    () => provenByKeys(false),
    'invalid_token signature',
    'keys_unavailable',
  ],
  ['its issuer', provenBySaying, 'invalid_token inactive', 'introspection_unavailable'],
]

describe.each(KINDS)('a token that is proven by %s', (kind, make, no, unavailable) => {
  type Step = 'schema' | 'revocations'
  const gone = new Error('gone')
  /** From the beginning of a verdict, by the default of `clockTolerance`. Seconds; revocations are waited for longer than that. */
  const TO_THE_END = 0.6

  interface Event {
    readonly when: string
    readonly happen: (world: World, leaving: AbortController) => unknown
    readonly verdict: string
    /** How often schema or revocations, in which it happens, are asked. */
    readonly times: number
    readonly isEachTime?: boolean
    /** Where the next proof is the same one: what the schema has made of that is used again, and so it is asked once. */
    readonly isSameProof?: boolean
  }

  const events: readonly Event[] = [
    { when: 'nothing happens', happen: () => {}, verdict: 'accepted', times: 1 },
    {
      when: 'the proof ends: another one is asked for, and all of it is judged again',
      happen: (world) => world.end(),
      verdict: 'accepted',
      times: 2,
      isSameProof: true,
    },
    {
      when: 'the proof ends each time: there is no verdict',
      happen: (world) => world.end(),
      verdict: `${unavailable} timeout`,
      times: 3,
      isEachTime: true,
      isSameProof: true,
    },
    {
      when: 'the proof is contradicted: refused as if it came now',
      happen: (world) => world.contradict(),
      verdict: no,
      times: 1,
    },
    {
      when: 'the proof ends in an outage: nobody can tell',
      happen: (world) => world.fail(),
      verdict: `${unavailable} unreachable`,
      times: 1,
    },
    {
      when: 'it expires',
      happen: async ({ clock }) => await clock.advance(TO_THE_END),
      verdict: 'invalid_token expired',
      times: 1,
    },
    {
      when: 'it expires, and the proof ends as well',
      happen: async (world) => {
        await world.clock.advance(TO_THE_END)
        world.end()
      },
      verdict: 'invalid_token expired',
      times: 1,
    },
    {
      when: 'its sender leaves',
      happen: (_world, leaving) => {
        leaving.abort(gone)
      },
      verdict: String(gone),
      times: 1,
    },
  ]

  const rows = (['schema', 'revocations'] as const).flatMap((step) =>
    events.map((event) => [step, event.when, event] as const),
  )

  test.each(rows)('during its %s %s', async (step: Step, _when, event) => {
    const world = make()
    world.clock.set(CLAIMS.exp + 4.5)
    const leaving = new AbortController()
    let times = 0
    const happen = async () => {
      times += 1
      if (times === 1 || event.isEachTime) await event.happen(world, leaving)
    }
    const options: Options =
      step === 'schema'
        ? {
            schema: {
              '~standard': {
                version: 1,
                async validate(value: unknown) {
                  await happen()
                  return { value }
                },
              },
            },
          }
        : {
            revocations: {
              async statusOf() {
                await happen()
                return 'valid' as const
              },
            },
          }
    const { signal } = leaving
    const verdict = await verdictOf(world.verifier(options).verify(world.token, { signal }))
    const isOnce = event.isSameProof && kind === REMEMBERED && step === 'schema'
    expect([verdict, times]).toEqual(isOnce ? ['accepted', 1] : [event.verdict, event.times])
  })

  test.each<[what: string, happen: (world: World) => unknown, verdict: string]>([
    ['expires', async ({ clock }) => await clock.advance(66), 'invalid_token expired'],
    ['whose proof is contradicted', (world) => world.contradict(), no],
  ])('that %s during its schema is refused, and revocations are not asked', async (...row) => {
    const [, happen, verdict] = row
    const world = make()
    let asked = 0
    const schema = {
      '~standard': {
        version: 1 as const,
        async validate(value: unknown) {
          await happen(world)
          return { value }
        },
      },
    }
    const revocations: Revocations = {
      statusOf() {
        asked += 1
        return 'unknown'
      },
    }
    const judged = world.verifier({ schema, revocations }).verify(world.token)
    expect([await verdictOf(judged), asked]).toEqual([verdict, 0])
  })

  test('that is too long is refused, and a loop of such does not hold up the event loop', async () => {
    const world = make()
    const verifier = world.verifier({})
    let hasTurned = false
    setImmediate(() => {
      hasTurned = true
    })
    // What is read of strangers takes its part of the iteration, by a clock that says so.
    const times = [0, 1].values()
    timeReading({ monotonic: () => times.next().value ?? 1 }, () => undefined)
    expect(await verdictOf(verifier.verify('a'.repeat(16_385)))).toBe('invalid_token too_large')
    expect(hasTurned).toBe(true)
  })

  test('that is revoked during its schema is refused', async () => {
    const world = make()
    const revocations = localRevocations({ clock: world.clock })
    const schema = {
      '~standard': {
        version: 1 as const,
        async validate(value: unknown) {
          await revocations.revoke(CLAIMS)
          return { value }
        },
      },
    }
    const verdict = world.verifier({ schema, revocations }).verify(world.token)
    expect(await verdictOf(verdict)).toBe('invalid_token revoked')
  })

  test('is judged by what it had proven before where nothing has to be waited for', async () => {
    const world = make()
    const verifier = world.verifier({})
    for (let use = 0; use < 3; use += 1) await verifier.verify(world.token)
    expect(world.asked).toBe(0)
  })

  test('whose proof has ended between two uses is proven again', async () => {
    const world = make()
    const verifier = world.verifier({})
    await verifier.verify(world.token)
    world.end()
    expect(await verdictOf(verifier.verify(world.token))).toBe('accepted')
    expect(world.asked).toBe(1)
  })

  test('that expires while its proof is waited for is judged by the time afterwards', async () => {
    const world = make()
    const verifier = world.verifier({})
    await verifier.verify(world.token)
    world.end()
    world.delay = 66
    expect(await verdictOf(verifier.verify(world.token))).toBe('invalid_token expired')
  })

  test('whose proof was contradicted between two uses is refused', async () => {
    const world = make()
    const verifier = world.verifier({})
    await verifier.verify(world.token)
    world.contradict()
    expect(await verdictOf(verifier.verify(world.token))).toBe(no)
  })
})

test('a token that its prover recalls was remembered, also before its first verdict and if the proof ends meanwhile', async () => {
  const world = provenBySaying()
  let uses = 0
  const schema = {
    '~standard': {
      version: 1 as const,
      validate(value: unknown) {
        uses += 1
        if (uses === 1) world.end()
        return { value }
      },
    },
  }
  const verifier = world.verifier({ schema })
  const remembered: unknown[] = []
  const onVerdict = (message: unknown) => {
    const { verifier: of, remembered: was } = message as VerifyMessage
    if (of === verifier) remembered.push(was)
  }
  subscribe('portcullis:verify', onVerdict)
  onTestFinished(() => {
    unsubscribe('portcullis:verify', onVerdict)
  })
  await verifier.verify(world.token)
  expect([uses, world.asked, remembered]).toEqual([2, 1, [true]])
})

test('a key that leaves while keys are waited for: the remembered token is proven anew', async () => {
  const clock = manualClock(START)
  const rings = { adas: ringOf(ada.publicKey), bobs: ringOf(bob.publicKey) }
  let ring: KeyRing | undefined = rings.adas
  const keys = keySource({
    now: () => ({ wall: clock.now(), monotonic: clock.monotonic() }),
    current: () => ring,
    async wait() {
      ring = await Promise.resolve(rings.bobs)
      return ring
    },
    suspect: async (suspicion) => ({ key: undefined, why: undefined, ring: suspicion.ring }),
  })
  const verifier = createVerifier({ keys, issuer: null, audience: null })
  await verifier.verify(jwt)
  ring = undefined
  expect(await verdictOf(verifier.verify(jwt))).toBe('invalid_token signature')
  ring = rings.adas
  expect(await verdictOf(verifier.verify(jwt))).toBe('accepted')
})
