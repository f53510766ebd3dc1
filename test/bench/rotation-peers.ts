import {
  clock,
  createSetting,
  createWarmSetting,
  newIssuer,
  oldIssuer,
  type Outcome,
  outcomeOf,
  random,
  SEED,
  serve,
  type Setting,
  verifyGenuine,
} from './peer-setting.ts'
import { jose, type PeerFactory, portcullis, type Verification } from './peers.ts'
import { markdownTable } from './table.ts'
import { documentedKey, forger, type Naming, signedToken } from './tokens.ts'

// What Portcullis and jose do behind the same key endpoint, in virtual time and with their defaults:
//
//   node --conditions=@portcullis/source test/bench/rotation-peers.ts
//
// The endpoint serves the bare key to Portcullis, as the token service does, and a set of that one key to jose, which
// reads nothing else.

const HOUR = 3600

type Scenario = (factory: PeerFactory) => Promise<string>

/** One token again and again, at a steady rate; those that wait do not hold up the others. */
async function verifyRepeatedly(
  setting: Setting,
  token: string,
  { count, interval }: { count: number; interval: number },
): Promise<Outcome[]> {
  const verifications: Verification[] = []
  for (let sent = 0; sent < count; sent += 1) {
    verifications.push(setting.peer.verify(token))
    await clock.advance(interval)
  }
  const outcomes: Outcome[] = []
  for (const verification of verifications) outcomes.push(await outcomeOf(setting, verification))
  return outcomes
}

async function coldStart(factory: PeerFactory): Promise<string> {
  const setting = createSetting(factory)
  const token = await signedToken(oldIssuer, setting.naming)
  const outcomes = await verifyRepeatedly(setting, token, { count: 1000, interval: 0 })
  return `${accepted(outcomes)} accepted, ${plural(setting.endpoint.requests.length, 'request')}`
}

/** @param lastFetch How long before the rotation the keys were fetched. Seconds. */
function rotation(naming: Naming, lastFetch: number): Scenario {
  return async (factory) => {
    const setting = await createWarmSetting(factory, naming)
    await clock.advance(lastFetch)
    return await rotate(setting, async () => {
      await clock.advance(1)
    })
  }
}

function rotationInFlood(naming: Naming, kid: 'kept' | 'random'): Scenario {
  return async (factory) => {
    const setting = await createWarmSetting(factory, naming)
    const forge = forger(await signedToken(oldIssuer, naming), kid, random)
    await clock.advance(60)
    const floodFor = async (seconds: number) => {
      await flood(setting, forge, { count: seconds * 50, seconds })
    }
    await floodFor(60)
    await awaitWorstMoment(setting, floodFor)
    return await rotate(setting, async () => {
      await floodFor(1)
    })
  }
}

/** Until the peer has just asked; for a minute, if it does not. */
async function awaitWorstMoment(
  { endpoint }: Setting,
  floodFor: (seconds: number) => Promise<void>,
): Promise<void> {
  const before = endpoint.requests.length
  const until = clock.monotonic() + 60
  const step = 0.02
  while (endpoint.requests.length === before && clock.monotonic() < until) await floodFor(step)
  while (endpoint.pending() > 0) await floodFor(step)
}

/** Sends a new-key token every second until one is accepted. */
async function rotate(setting: Setting, passSecond: () => Promise<void>): Promise<string> {
  const { peer, endpoint, naming } = setting
  const before = endpoint.requests.length
  serve(setting, newIssuer)
  let firstVerdict: string | undefined
  for (let second = 0; second < 2 * HOUR; second += 1) {
    const verification = peer.verify(await signedToken(newIssuer, naming))
    await passSecond()
    const { verdict } = await outcomeOf(setting, verification)
    firstVerdict ??= verdict
    if (verdict === 'accepted') {
      const requests = plural(endpoint.requests.length - before, 'request')
      return second === 0
        ? `first token accepted, ${requests}`
        : `${firstVerdict}; healed after ${second} s, ${requests}`
    }
  }
  return `${firstVerdict}; not healed`
}

async function flood(
  { peer }: Setting,
  forge: () => string,
  { count, seconds }: { count: number; seconds: number },
): Promise<void> {
  const ticks = Math.round(seconds * 50)
  for (let tick = 0; tick < ticks; tick += 1) {
    for (let sent = 0; sent < count / ticks; sent += 1) peer.verify(forge())
    await clock.advance(seconds / ticks)
  }
}

async function bareDocument(factory: PeerFactory): Promise<string> {
  const setting = createSetting(factory)
  setting.endpoint.serve(documentedKey(oldIssuer, setting.naming))
  const { verdict } = await verifyGenuine(setting, oldIssuer)
  return verdict === 'accepted' ? 'yes' : `no: ${verdict}`
}

function forgedFlood(kid: 'kept' | 'random'): Scenario {
  return async (factory) => {
    const setting = await createWarmSetting(factory)
    const forge = forger(await signedToken(oldIssuer, setting.naming), kid, random)
    await clock.advance(60)
    const from = clock.monotonic()
    await flood(setting, forge, { count: 10_000, seconds: 1 })
    await flood(setting, forge, { count: 6000, seconds: 60 })
    const requests = setting.endpoint.requests.filter((time) => time >= from)
    const inFirstSecond = requests.filter((time) => time < from + 1).length
    return `${inFirstSecond}, then ${requests.length - inFirstSecond}`
  }
}

async function outage(factory: PeerFactory): Promise<string> {
  const setting = await createWarmSetting(factory)
  const token = await signedToken(oldIssuer, setting.naming)
  setting.endpoint.die()
  const before = setting.endpoint.requests.length
  const outcomes = await verifyRepeatedly(setting, token, { count: HOUR, interval: 1 })
  const share = ((accepted(outcomes) / outcomes.length) * 100).toFixed(1)
  return `${share} % accepted, ${plural(setting.endpoint.requests.length - before, 'attempt')}`
}

async function newKeyInOutage(factory: PeerFactory): Promise<string> {
  const setting = await createWarmSetting(factory)
  setting.endpoint.die()
  await clock.advance(300)
  const { verdict } = await verifyGenuine(setting, newIssuer)
  return verdict
}

async function deadAtStart(factory: PeerFactory): Promise<string> {
  const setting = createSetting(factory)
  const token = await signedToken(oldIssuer, setting.naming)
  setting.endpoint.die()
  const outcomes = await verifyRepeatedly(setting, token, { count: 1000, interval: 0.1 })
  const verdicts = [...new Set(outcomes.map(({ verdict }) => verdict))].join(', ')
  return `${plural(setting.endpoint.requests.length, 'attempt')}; ${verdicts}`
}

async function slowEndpoint(factory: PeerFactory): Promise<string> {
  const setting = await createWarmSetting(factory)
  const token = await signedToken(oldIssuer, setting.naming)
  setting.endpoint.answerAfter(2)
  const outcomes = await verifyRepeatedly(setting, token, { count: 1000, interval: 0.7 })
  const waiting = outcomes.filter(({ waited }) => waited > 0)
  const longest = Math.max(...outcomes.map(({ waited }) => waited))
  return waiting.length === 0
    ? 'none waits'
    : `${waiting.length} of ${outcomes.length} wait, up to ${longest.toFixed(1)} s`
}

async function withdrawnKey(factory: PeerFactory): Promise<string> {
  const setting = await createWarmSetting(factory)
  const token = await signedToken(oldIssuer, setting.naming)
  serve(setting, newIssuer)
  for (let second = 0; second < 2 * HOUR; second += 1) {
    const { verdict } = await outcomeOf(setting, setting.peer.verify(token))
    if (verdict !== 'accepted') return `after ${second} s: ${verdict}`
    await clock.advance(1)
  }
  return 'not within two hours'
}

function accepted(outcomes: readonly Outcome[]): number {
  return outcomes.filter(({ verdict }) => verdict === 'accepted').length
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

const SCENARIOS: readonly (readonly [title: string, scenario: Scenario])[] = [
  ['1,000 verifications at once, cold', coldStart],
  ['a bare JWK as the key document', bareDocument],
  ['rotation to a new kid, 60 s after the last fetch', rotation('own kid', 60)],
  ['the same, 10 s after the last fetch', rotation('own kid', 10)],
  ['rotation behind the same kid, 60 s after', rotation('same kid', 60)],
  ['rotation without a kid, 60 s after', rotation('no kid', 60)],
  [
    'forged, random kids: requests in 1 s of 10,000/s, then in 60 s of 100/s',
    forgedFlood('random'),
  ],
  ['the same, known kid and bad signature', forgedFlood('kept')],
  [
    'rotation to a new kid in a flood of random kids, 50/s, worst moment',
    rotationInFlood('own kid', 'random'),
  ],
  [
    'rotation behind the same kid in a flood of bad signatures, 50/s, worst moment',
    rotationInFlood('same kid', 'kept'),
  ],
  ['endpoint dead for an hour, keys known, 1 token/s', outage],
  ['new-key token after 5 min of it', newKeyInOutage],
  ['endpoint dead at start, 1,000 tokens, 10/s', deadAtStart],
  ['endpoint answers in 2 s, 1,000 tokens in 700 s', slowEndpoint],
  ['key withdrawn just after a fetch: its tokens refused', withdrawnKey],
]

const rows: string[][] = []
for (const [title, scenario] of SCENARIOS) {
  rows.push([title, await scenario(portcullis), await scenario(jose)])
}
console.log(`Seed ${SEED}.\n`)
console.log(markdownTable(['Scenario', 'Portcullis', 'jose'], rows))
