import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { createVerifier, localKeys, remoteKeys, type Verifier } from '@portcullis/core'
import { createVerifier as createFastVerifier } from 'fast-jwt'
import { createLocalJWKSet, jwtVerify } from 'jose'

import { AUDIENCE, claims, encode, ISSUER } from './inputs.ts'

// One measurement of memory, in a process that does nothing else: node memory-child.ts SCENARIO COUNT. Tokens are signed
// with Ed25519, which takes a tenth of the time, and are as long as those of an RSA key: nothing here depends on the
// algorithm. Its answer is one line of JSON.

/** In octets. Heap is what the collector has left; resident is what the system has lent. */
export interface Growth {
  readonly heap: number
  readonly external: number
  readonly resident: number
  readonly count: number
}

const TOKEN_LENGTH = 700
const SIGNATURE_LENGTH = 86
const MEASURES = 5
/** Milliseconds. */
const SETTLING = 300

type Verify = (token: string) => unknown

interface Memory {
  readonly heap: number
  readonly external: number
  readonly resident: number
}

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const { x = '' } = publicKey.export({ format: 'jwk' })
const jwk = { kty: 'OKP', crv: 'Ed25519', x, kid: 'memory', alg: 'EdDSA', use: 'sig' }
const header = encode(JSON.stringify({ alg: 'EdDSA', typ: 'JWT', kid: jwk.kid }))

/** A token of 700 octets, different for each index. */
function tokenOf(index: number): string {
  const room = ((TOKEN_LENGTH - header.length - SIGNATURE_LENGTH - 2) * 3) / 4
  const bare = JSON.stringify({ ...claims(index), pad: '' })
  const pad = 'x'.repeat(Math.max(0, Math.floor(room) - bare.length))
  return signed(JSON.stringify({ ...claims(index), pad }), privateKey)
}

function signed(payload: string, key: KeyObject): string {
  const input = `${header}.${encode(payload)}`
  // As a socket gives it: one flat string that nothing else refers to.
  const octets = Buffer.from(
    `${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`,
  )
  return octets.toString('latin1')
}

const rules = { issuer: ISSUER, audience: AUDIENCE, algorithms: ['EdDSA' as const] }
const fastRules = { algorithms: ['EdDSA' as const], allowedIss: ISSUER, allowedAud: AUDIENCE }
const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()

const identity = (token: string) => token
const fetchKeys = async () => Response.json({ keys: [jwk] })

/** Each with room for so many tokens. */
const REMEMBERING: Readonly<Record<string, (max: number) => Verify>> = {
  Portcullis(max) {
    const verifier = createVerifier({ keys: localKeys(jwk), ...rules, remember: { max } })
    return async (token) => await verifier.verify(token)
  },
  'fast-jwt'(max) {
    return createFastVerifier({ key: pem, cache: max, ...fastRules })
  },
  'fast-jwt, by the whole token'(max) {
    return createFastVerifier({ key: pem, cache: max, cacheKeyBuilder: identity, ...fastRules })
  },
  /** What making the tokens leaves behind. */
  'no verifier': () => () => undefined,
  'jose, which remembers nothing'() {
    const keySet = createLocalJWKSet({ keys: [jwk] })
    return async (token) => await jwtVerify(token, keySet, rules)
  },
}

export const VERIFIERS = Object.keys(REMEMBERING)

/** What remembering so many tokens costs, beside a verifier that has room for them and has seen none. */
async function remembered(name: string, count: number): Promise<Growth> {
  const create = REMEMBERING[name]
  if (create === undefined) throw new Error(`there is no ${name}`)
  // What is compiled and cached once must not count.
  await verifyAll(create(count), 0, count)
  const verify = create(count)
  const before = await settledMemory()
  await verifyAll(verify, count, count)
  return growth(before, await settledMemory(), count, verify)
}

/** What is left of so many distinct tokens, of which the last 1,000 may be remembered: both times as many are. */
async function distinct(name: string, count: number): Promise<Growth> {
  const create = REMEMBERING[name]
  if (create === undefined) throw new Error(`there is no ${name}`)
  const verify = create(1000)
  const first = Math.ceil(count / 20)
  await verifyAll(verify, 0, first)
  const before = await settledMemory()
  await verifyAll(verify, first, count)
  return growth(before, await settledMemory(), count, verify)
}

async function verifyAll(verify: Verify, first: number, count: number): Promise<void> {
  for (let index = first; index < first + count; index += 1) await verify(tokenOf(index))
}

/** What is left of so many forged tokens, each with a random kid, behind a key endpoint that has one key. */
async function randomKids(count: number): Promise<Growth> {
  const keys = remoteKeys('https://auth.test/keys', { fetch: fetchKeys })
  const verifier = createVerifier({ keys, ...rules })
  await verifier.ready()
  const payload = tokenOf(0).split('.')[1] ?? ''
  await refuseAll(verifier, payload, Math.ceil(count / 20))
  const before = await settledMemory()
  await refuseAll(verifier, payload, count)
  return growth(before, await settledMemory(), count, verifier)
}

/** Some at once, since now and then one waits for the key endpoint to be asked. */
async function refuseAll(verifier: Verifier, payload: string, count: number): Promise<void> {
  const AT_ONCE = 500
  for (let done = 0; done < count; done += AT_ONCE) {
    const verdicts = await Promise.allSettled(
      Array.from({ length: Math.min(AT_ONCE, count - done) }, async () => {
        await verifier.verify(forged(payload))
      }),
    )
    if (verdicts.some(({ status }) => status === 'fulfilled')) throw new Error('accepted')
  }
}

function forged(payload: string): string {
  const kid = Math.random().toString(36).slice(2)
  const forgedHeader = encode(`{"alg":"EdDSA","kid":"${kid}"}`)
  // An A at the end leaves no stray bits.
  const signature = `${kid.padEnd(SIGNATURE_LENGTH - 1, 'A')}A`
  return `${forgedHeader}.${payload}.${signature}`
}

function growth(before: Memory, after: Memory, count: number, keep: unknown): Growth {
  // Whatever remembers must live until here.
  if (keep === undefined) throw new TypeError('nothing was measured')
  return {
    heap: after.heap - before.heap,
    external: after.external - before.external,
    resident: after.resident - before.resident,
    count,
  }
}

/** The least of some measures, each after a collection and a moment for what is under way to end. */
async function settledMemory(): Promise<Memory> {
  const measures: NodeJS.MemoryUsage[] = []
  for (let count = 0; count < MEASURES; count += 1) {
    await sleep(SETTLING)
    collect()
    measures.push(process.memoryUsage())
  }
  return {
    heap: Math.min(...measures.map(({ heapUsed }) => heapUsed)),
    external: Math.min(...measures.map(({ external }) => external)),
    resident: Math.min(...measures.map(({ rss }) => rss)),
  }
}

function collect(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc()')
}

const [scenario, name = '', count = '0'] = process.argv.slice(2)
const SCENARIOS: Readonly<Record<string, () => Promise<Growth>>> = {
  remembered: async () => await remembered(name, Number(count)),
  distinct: async () => await distinct(name, Number(count)),
  'random kids': async () => await randomKids(Number(count)),
}
const run = SCENARIOS[scenario ?? '']
if (run !== undefined) console.log(JSON.stringify(await run()))
