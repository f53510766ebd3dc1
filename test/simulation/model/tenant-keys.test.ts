import {
  type AuthError,
  createVerifier,
  type KeysSnapshot,
  remoteKeys,
  type Verifier,
} from '@portcullis/core'
import { type ManualClock, manualClock } from '@portcullis/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'

import { emptyThreadPool } from '../../../packages/core/test/token/thread-pool.ts'
import { compact, encode, es256, stranger } from '../../hostile/attacks/differential/signers.ts'
import { MODEL_LIMIT, modelRuns } from '../../model-runs.ts'

// Random sequences of documents in which one key has entries for other issuers each time: whose tokens it proves is what the document that was
// fetched last says, also of remembered tokens and after a start from a snapshot.

const LOGIN = 'https://login.example'
const TEMPLATE = `${LOGIN}/{tenantid}/v2.0`
const TENANTS = [
  '11111111-2222-3333-4444-555555555555',
  '99999999-2222-3333-4444-aaaaaaaaaaaa',
] as const
const issuerOf = (tenant: string) => `${LOGIN}/${tenant}/v2.0`
/** What an entry of the key may name, and whose tokens that is for. */
const ISSUERS = [undefined, TEMPLATE, ...TENANTS.map(issuerOf)]

type Event =
  | { readonly kind: 'publish'; readonly issuers: readonly (string | undefined)[] }
  | { readonly kind: 'refresh' | 'wait' | 'restart' }
  | { readonly kind: 'token'; readonly tenant: 0 | 1; readonly isNew: boolean }

const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ kind: fc.constant('publish' as const), issuers: fc.subarray(ISSUERS) }),
  fc.record({ kind: fc.constantFrom('refresh' as const, 'wait' as const, 'restart' as const) }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('token' as const),
      tenant: fc.constantFrom(0 as const, 1 as const),
      isNew: fc.boolean(),
    }),
  },
)

function createProcess(clock: ManualClock, served: () => readonly object[], from?: KeysSnapshot) {
  let fetched: readonly object[] | undefined
  const keys = remoteKeys(`${LOGIN}/keys`, {
    clock,
    snapshot: from,
    async fetch() {
      fetched = served()
      return await Promise.resolve(Response.json({ keys: fetched }))
    },
  })
  const issuer = { template: TEMPLATE, claim: 'tid', tenants: 'any' } as const
  const verifier = createVerifier({ keys, issuer, audience: null, clock })
  return { keys, verifier, fetched: () => fetched }
}

const entryOf = (issuer: string | undefined) => ({ ...es256.publicJwk, issuer })
/** A document without a usable key would be a failure. */
const other = { ...stranger.publicJwk, issuer: TEMPLATE }

let count = 0

function tokenOf(tenant: string, clock: ManualClock): string {
  const claims = { iss: issuerOf(tenant), tid: tenant, exp: clock.now() + 100_000, jti: count++ }
  const header = { alg: es256.alg, kid: es256.publicJwk.kid }
  return compact(es256, encode(JSON.stringify(header)), encode(JSON.stringify(claims)))
}

/** Time passes only where somebody waits for it, and not while a signature is on its way back from the thread pool. */
async function verdictOf(verifier: Verifier, token: string, clock: ManualClock): Promise<string> {
  let verdict = ''
  void verifier.verify(token).then(
    () => {
      verdict = 'accepted'
    },
    (error: unknown) => {
      verdict = (error as AuthError).reason
    },
  )
  for (;;) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve)
    })
    if (verdict !== '') return verdict
    await emptyThreadPool()
    await clock.advance(0)
    if (verdict === '') await clock.advance(0.5)
  }
}

test(
  'a key proves the tokens of those issuers alone that the last document names for it',
  async () => {
    let accepted = 0
    let refused = 0
    const property = fc.asyncProperty(
      fc.array(event, { minLength: 8, maxLength: 25 }),
      async (events) => {
        const clock = manualClock()
        let document: readonly object[] = [other, entryOf(TEMPLATE)]
        let process = createProcess(clock, () => document)
        /** What the snapshot of this process had, until it has fetched. */
        let begun: readonly object[] = []
        const known = [tokenOf(TENANTS[0], clock), tokenOf(TENANTS[1], clock)]
        const isTrusted = (tenant: string) =>
          (process.fetched() ?? begun).some((entry) => {
            const { kid, issuer } = entry as { kid?: string; issuer?: string }
            return (
              kid === es256.publicJwk.kid && [TEMPLATE, issuerOf(tenant)].includes(issuer ?? '')
            )
          })
        const wrong: string[] = []
        for (const each of events) {
          if (each.kind === 'publish') {
            document = [other, ...each.issuers.map(entryOf)]
          } else if (each.kind === 'token') {
            const tenant = TENANTS[each.tenant]
            const wasTrusted = isTrusted(tenant)
            const token = each.isNew ? tokenOf(tenant, clock) : (known[each.tenant] ?? '')
            const verdict = await verdictOf(process.verifier, token, clock)
            // A refresh may have come with it, whose document is the last one then.
            const mayAccept = isTrusted(tenant) || wasTrusted
            const isRight = verdict === 'accepted' ? mayAccept : !isTrusted(tenant)
            if (!isRight) wrong.push(`${verdict} of ${each.tenant}`)
            if (verdict === 'accepted') accepted++
            else refused++
          } else if (each.kind === 'restart') {
            const snapshot = process.keys.toSnapshot()
            begun = snapshot === undefined ? [] : (process.fetched() ?? begun)
            const saved = snapshot && (JSON.parse(JSON.stringify(snapshot)) as KeysSnapshot)
            process = createProcess(clock, () => document, saved)
          } else {
            await clock.advance(each.kind === 'wait' ? 700 : 2)
            if (each.kind === 'refresh') await process.keys.refresh()
          }
        }
        expect(wrong).toEqual([])
      },
    )
    await fc.assert(property, modelRuns(150, 20_261_127))
    expect(Math.min(accepted, refused)).toBeGreaterThan(50)
  },
  MODEL_LIMIT,
)
