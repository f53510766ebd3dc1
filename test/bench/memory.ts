import { spawnSync } from 'node:child_process'
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { createVerifier, localKeys, localReplays, remoteKeys } from '@portcullis/core'

import { AUDIENCE, claims, encode, ISSUER } from './inputs.ts'
import { describeMachine, flags } from './report.ts'
import { printTable } from './table.ts'

// What remembering costs, and what is left after very many tokens: `pnpm bench memory` takes ten minutes, most of them for eleven
// million verifications.
//
// Every measurement is a process of its own: this file with the name of a scenario. Tokens are signed with Ed25519, which takes
// a tenth of the time, and are as long as those of an RSA key: nothing here depends on the algorithm.

const TOKEN_LENGTH = 700
const SIGNATURE_LENGTH = 86

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const { x = '' } = publicKey.export({ format: 'jwk' })
const jwk = { kty: 'OKP', crv: 'Ed25519', x, kid: 'memory', alg: 'EdDSA', use: 'sig' }
const header = encode(JSON.stringify({ alg: 'EdDSA', typ: 'JWT', kid: jwk.kid }))
const rules = { issuer: ISSUER, audience: AUDIENCE, algorithms: ['EdDSA' as const] }

/** A token of 700 octets, different for each index. */
function tokenOf(index: number): string {
  const room = ((TOKEN_LENGTH - header.length - SIGNATURE_LENGTH - 2) * 3) / 4
  const bare = JSON.stringify({ ...claims(index), pad: '' })
  const pad = 'x'.repeat(Math.max(0, Math.floor(room) - bare.length))
  const input = `${header}.${encode(JSON.stringify({ ...claims(index), pad }))}`
  const signature = sign(null, Buffer.from(input), privateKey).toString('base64url')
  // As a socket gives it: one flat string that nothing else refers to.
  return Buffer.from(`${input}.${signature}`).toString('latin1')
}

/** With a random kid. */
function forgedOf(payload: string): string {
  const kid = Math.random().toString(36).slice(2)
  // An A at the end leaves no stray bits.
  const signature = `${kid.padEnd(SIGNATURE_LENGTH - 1, 'A')}A`
  return `${encode(`{"alg":"EdDSA","kid":"${kid}"}`)}.${payload}.${signature}`
}

/** Uses so many, from the first on. */
type Use = (first: number, count: number) => Promise<void>

const eachOf =
  (use: (index: number) => unknown): Use =>
  async (first, count) => {
    for (let index = first; index < first + count; index += 1) await use(index)
  }

function verifying(max: number): Use {
  const verifier = createVerifier({ keys: localKeys(jwk), ...rules, remember: { max } })
  return eachOf((index) => verifier.verify(tokenOf(index)))
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url')

/** Proofs of so many keys, as `dpopProofs` hands them on: two hashes, and a time. */
function proving(keys: number): Use {
  const replays = localReplays({ max: 1_000_000, maxPerKey: 1_000_000 })
  const thumbprints = Array.from({ length: keys }, (_, index) => hashOf(`key ${index}`))
  const now = Date.now() / 1000
  return eachOf((index) => {
    const jkt = thumbprints[index % keys] ?? ''
    const answer = replays.remember({ jkt, jti: hashOf(`proof ${index}`), expires: now + 65 }, now)
    if (answer !== 'new') throw new Error(`a new proof was ${answer}`)
  })
}

const fetchKeys = async () => Response.json({ keys: [jwk] })

/** Behind a key endpoint that has one key. Some at once, since now and then one waits for the endpoint to be asked. */
async function refusing(): Promise<Use> {
  const keys = remoteKeys('https://auth.test/keys', { fetch: fetchKeys })
  const verifier = createVerifier({ keys, ...rules })
  await verifier.ready()
  const payload = tokenOf(0).split('.')[1] ?? ''
  const AT_ONCE = 500
  return async (first, count) => {
    for (let done = first; done < first + count; done += AT_ONCE) {
      const forged = Array.from({ length: AT_ONCE }, () => verifier.verify(forgedOf(payload)))
      const verdicts = await Promise.allSettled(forged)
      if (verdicts.some(({ status }) => status === 'fulfilled')) throw new Error('accepted')
    }
  }
}

/** Octets that the collector has left: the least of some measures, each after a moment for what is under way to end. */
async function heap(): Promise<number> {
  const measures: number[] = []
  for (let count = 0; count < 5; count += 1) {
    await sleep(300)
    globalThis.gc?.()
    measures.push(process.memoryUsage().heapUsed)
  }
  return Math.min(...measures)
}

interface Scenario {
  readonly name: string
  readonly count: number
  /** Who remembers, with room for so many. */
  readonly create: (max: number) => Use | Promise<Use>
  /** Whether what each takes is asked for. Otherwise what is left of all, the last 1,000 of which may be remembered both times. */
  readonly isEach: boolean
}

const SCENARIOS: readonly Scenario[] = [
  { name: 'remembered tokens', count: 5000, create: verifying, isEach: true },
  { name: 'proofs of 1,000 keys', count: 1_000_000, create: () => proving(1000), isEach: true },
  { name: 'proofs, 4 of a key', count: 400_000, create: () => proving(100_000), isEach: true },
  { name: 'distinct tokens', count: 1_000_000, create: verifying, isEach: false },
  { name: 'forged tokens, random kids', count: 10_000_000, create: refusing, isEach: false },
]

/** Octets each, or in all. */
async function growth({ count, create, isEach }: Scenario): Promise<number> {
  const number = flags.quick ? Math.ceil(count / 500) : count
  // What is compiled and cached once must not count.
  const warm = isEach ? number : Math.ceil(number / 20)
  const use = await create(isEach ? number : 1000)
  await use(0, warm)
  const measured = isEach ? await create(number) : use
  const before = await heap()
  await measured(warm, number)
  const after = await heap()
  // Whatever remembers must live until here.
  await measured(0, 0)
  return (after - before) / (isEach ? number : 1)
}

function inProcess(name: string): number {
  const args = [fileURLToPath(import.meta.url), '--scenario', name, ...process.argv.slice(2)]
  const { stdout, stderr, status } = spawnSync(process.execPath, [...process.execArgv, ...args], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${name}:\n${stderr}`)
  return Number(stdout)
}

const at = process.argv.indexOf('--scenario')
const asked = SCENARIOS.find(({ name }) => at !== -1 && name === process.argv[at + 1])
if (asked === undefined) {
  printTable(
    `${describeMachine()}\n\nOctets more on the heap:`,
    [
      ['After', ({ count, name }) => `${count} ${name}`],
      ['', ({ isEach }) => (isEach ? 'each' : 'in all')],
      ['octets', ({ name }) => inProcess(name), 0],
    ],
    SCENARIOS,
  )
} else console.log(await growth(asked))
