import { isDeepStrictEqual } from 'node:util'

import {
  authenticateRequest,
  byIssuer,
  createVerifier,
  type GuardOptions,
  type Verifier,
} from '@portcullis/core'
import { checkGuardOptions, isAtOnce } from '@portcullis/core/adapter'
import {
  createTestIssuer,
  type ManualClock,
  manualClock,
  type TestIssuer,
} from '@portcullis/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'

import { brandedProofs } from '../../../packages/core/src/dpop/proof-check.ts'
import { brandedMutualTls } from '../../../packages/core/src/possession/mutual-tls.ts'
import { MODEL_LIMIT, modelRuns } from '../../model-runs.ts'

// Random tokens, bound or not, sent to random guards, again and again while keys change and time goes on. A request goes on if and
// only if the token holds and everything that it is bound to was proven.

const RUNS = 200

const NAME = 'https://auth.test'
const LIFETIME = 600
const TOLERANCE = 5

/** What tokens are bound to: `A` and `B` are thumbprints. */
const CONFIRMATIONS = {
  nothing: undefined,
  key: { jkt: 'A' },
  certificate: { 'x5t#S256': 'A' },
  both: { jkt: 'A', 'x5t#S256': 'A' },
  empty: {},
  strange: { kid: 'A' },
  partly: { jkt: 'A', kid: 'A' },
  described: { jkt: 'A', 'kc-jkt-type': 'DPoP' },
} satisfies Record<string, undefined | Readonly<Record<string, string>>>
type Bound = keyof typeof CONFIRMATIONS

type Wish = 'none' | 'taken' | 'required'
type Shown = 'A' | 'B' | undefined

interface Setup {
  readonly confirmation: 'require' | 'ignore'
  readonly remember: boolean
  readonly issuers: 'one' | 'listed' | 'found'
  readonly dpop: Wish
  readonly mutualTls: Wish
  /** Whether proofs are remembered at once. */
  readonly atOnce: boolean
}

interface Sending {
  /** A token that was made before, by its place among all. */
  readonly send: number
  readonly scheme: 'Bearer' | 'DPoP'
  readonly proof: Shown
  readonly certificate: Shown
  /** What happens while the proof is remembered. */
  readonly meanwhile: 'nothing' | 'rotation' | 'expiry'
}

/** Plain, so that a sequence that fails prints as one can read it. Seconds. */
type Event =
  | { readonly token: Bound }
  | { readonly pass: number }
  | { readonly rotate: true }
  | Sending

const shown = fc.constantFrom<Shown>('A', 'A', 'B', undefined)
const wish = fc.constantFrom<Wish>('none', 'taken', 'taken', 'required')
const setup: fc.Arbitrary<Setup> = fc.record({
  confirmation: fc.constantFrom('require', 'require', 'ignore'),
  remember: fc.boolean(),
  issuers: fc.constantFrom('one', 'listed', 'found'),
  dpop: wish,
  mutualTls: wish,
  atOnce: fc.boolean(),
})
const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ token: fc.constantFrom(...(Object.keys(CONFIRMATIONS) as Bound[])) }),
  },
  { weight: 1, arbitrary: fc.record({ pass: fc.constantFrom(1, 60, 290, 600, 606) }) },
  { weight: 1, arbitrary: fc.constant<Event>({ rotate: true }) },
  {
    weight: 12,
    arbitrary: fc.record({
      send: fc.nat(6),
      scheme: fc.constantFrom('Bearer', 'DPoP'),
      proof: shown,
      certificate: shown,
      meanwhile: fc.constantFrom('nothing', 'nothing', 'nothing', 'rotation', 'expiry'),
    }),
  },
)
const sequence = fc.array(event, { minLength: 1, maxLength: 30, size: 'max' })

interface Token {
  readonly text: string
  readonly bound: Bound
  readonly generation: number
  readonly expires: number
}

interface World {
  readonly faults: readonly object[]
  play(event: Event): Promise<void>
}

async function createWorld(given: Setup): Promise<World> {
  const clock = manualClock()
  const issuer = await createTestIssuer({
    clock,
    algorithm: 'ES256',
    issuer: NAME,
    lifetime: LIFETIME,
  })
  const verifier = verifierOf(issuer, clock, given)
  const tokens: Token[] = []
  const faults: object[] = []
  let generation = 0
  let sending: Sending | undefined
  const guard = checkGuardOptions(
    verifier,
    guardOf(given, () => sending, remember),
  )

  async function remember(): Promise<void> {
    if (sending?.meanwhile === 'rotation') await rotate()
    if (sending?.meanwhile === 'expiry') await clock.advance(LIFETIME + TOLERANCE)
  }

  async function rotate(): Promise<void> {
    await issuer.rotate()
    generation++
    await clock.advance(1)
    await issuer.verifierOptions.keys.refresh()
  }

  async function send(each: Sending): Promise<void> {
    const token = tokens[each.send % Math.max(tokens.length, 1)]
    if (token === undefined) return
    const holds = () => token.generation === generation && clock.now() < token.expires + TOLERANCE
    const heldBefore = holds()
    sending = each
    const possession = await answerTo(verifier, guard, each, token)
    sending = undefined
    const expected = heldBefore && holds() ? provenBy(given, token.bound, each) : 'refused'
    if (!isDeepStrictEqual(possession, expected)) {
      faults.push({ token: token.bound, each, possession, expected })
    }
  }

  return {
    faults,
    async play(each) {
      if ('pass' in each) await clock.advance(each.pass)
      else if ('rotate' in each) await rotate()
      else if ('send' in each) await send(each)
      else {
        const cnf = CONFIRMATIONS[each.token]
        const text = await issuer.token(cnf === undefined ? {} : { claims: { cnf } })
        tokens.unshift({ text, bound: each.token, generation, expires: clock.now() + LIFETIME })
      }
    },
  }
}

function verifierOf(
  issuer: TestIssuer,
  clock: ManualClock,
  { confirmation, remember, issuers }: Setup,
): Verifier {
  const options = remember ? {} : { remember: false as const }
  const one = createVerifier({ ...issuer.verifierOptions, ...options, confirmation })
  if (issuers === 'one') return one
  return issuers === 'listed' ? byIssuer({ [NAME]: one }) : byIssuer(() => one, { clock })
}

/** A proof is the thumbprint of its key, and so is a certificate. */
function guardOf(
  { dpop, mutualTls, atOnce }: Setup,
  sending: () => Sending | undefined,
  happen: () => Promise<void>,
): GuardOptions {
  const proofs = brandedProofs({
    algorithms: ['ES256'],
    required: dpop === 'required',
    async check({ proof }) {
      if (typeof proof !== 'string') throw new TypeError('there is no proof')
      return await Promise.resolve({ jkt: proof, jti: '1', expires: Infinity })
    },
    remember: () => (atOnce ? undefined : happen()),
    nonce: () => undefined,
  })
  const certificates = brandedMutualTls({
    required: mutualTls === 'required',
    thumbprintOf: () => sending()?.certificate,
  })
  return {
    ...(dpop === 'none' ? {} : { dpop: proofs }),
    ...(mutualTls === 'none' ? {} : { mutualTls: certificates }),
  }
}

/** What the guard says that was proven. */
async function answerTo(
  verifier: Verifier,
  guard: GuardOptions,
  { scheme, proof }: Sending,
  { text }: Token,
): Promise<unknown> {
  const headers = {
    authorization: `${scheme} ${text}`,
    ...(proof === undefined ? {} : { dpop: proof }),
  }
  const request = { method: 'GET', url: '/', headers }
  try {
    const answer = authenticateRequest(verifier, request, guard, request)
    const auth = isAtOnce(answer) ? answer : await answer
    return { ...auth?.possession }
  } catch {
    return 'refused'
  }
}

/** What must be said of a token that holds: the same rules, written down once more. */
function provenBy(
  { confirmation, dpop, mutualTls }: Setup,
  bound: Bound,
  { scheme, proof, certificate }: Sending,
): object | 'refused' {
  const isByProof = scheme === 'DPoP'
  if (isByProof ? dpop === 'none' || proof === undefined : dpop === 'required') return 'refused'
  const cnf: Readonly<Record<string, string>> | undefined = CONFIRMATIONS[bound]
  const jkt = isByProof ? proof : undefined
  const x5tS256 = mutualTls === 'none' ? undefined : certificate
  // A proof counts in any case, and so does a certificate that is required.
  if (jkt !== undefined && cnf?.['jkt'] !== jkt) return 'refused'
  const isOfCertificate = x5tS256 !== undefined && cnf?.['x5t#S256'] === x5tS256
  if (mutualTls === 'required' && !isOfCertificate) return 'refused'
  if (confirmation === 'require' && cnf !== undefined) {
    const proven: Readonly<Record<string, string | undefined>> = { jkt, 'x5t#S256': x5tS256 }
    const names = Object.keys(cnf).filter((name) => name !== 'kc-jkt-type')
    if (names.length === 0 || names.some((name) => proven[name] !== cnf[name])) return 'refused'
  }
  return {
    ...(jkt === undefined ? {} : { jkt }),
    ...(isOfCertificate ? { x5tS256 } : {}),
  }
}

test(
  'whatever happens: a request goes on if its token holds and all that it is bound to was proven, and not otherwise',
  async () => {
    await fc.assert(
      fc.asyncProperty(setup, sequence, async (given, events) => {
        const world = await createWorld(given)
        for (const each of events) await world.play(each)
        expect(world.faults).toEqual([])
      }),
      modelRuns(RUNS, 20_260_103),
    )
  },
  MODEL_LIMIT,
)
