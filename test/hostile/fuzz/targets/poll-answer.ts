import { localKeys, localRevocations } from '@portcullis/core'
import { type EventMessage, pollEvents } from '@portcullis/events'
import { isJsonObject, type JsonObject } from '@portcullis/kit/json'
import fc from 'fast-check'

import { anyCharacter, jsonText, mostly, nearlyAll, octetsOf, parseJson } from '../inputs.ts'
import { privateKey, publicJwkOf, signed } from '../signed.ts'
import { type FuzzTarget, hold } from '../target.ts'

const NOW = 1_767_225_600
const ISSUER = 'https://issuer.example'
const REVOKED = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked'
/** Seconds: no pause is as long. */
const TIMEOUT = 600
/** How many events of an answer are taken in. */
const MAX_TAKEN = 1000

const keys = localKeys(publicJwkOf(privateKey))

function eventOf(jti: string, iss = ISSUER): string {
  const sub_id = { format: 'iss_sub', iss, sub: jti }
  const claims = { iss, aud: 'client', jti, iat: NOW, sub_id, events: { [REVOKED]: {} } }
  return signed('{"alg":"Ed25519","typ":"secevent+jwt"}', JSON.stringify(claims))
}

const names = ['e1', 'e2', '__proto__', 'toString']
const tokens = [...names.map((name) => eventOf(name)), eventOf('e1', 'https://other.example')]

/** What a transmitter answers to a poll: it is trusted to tell of its users, and may be wrong about everything else. */
export const pollAnswer: FuzzTarget = {
  inputs: jsonText(
    nearlyAll({
      sets: fc.dictionary(
        mostly(fc.constantFrom(...names), fc.string({ unit: anyCharacter })),
        mostly(fc.constantFrom(...tokens), fc.jsonValue({ maxDepth: 1 })),
        { maxKeys: 6 },
      ),
      moreAvailable: fc.boolean(),
    }),
  ),
  async run(input) {
    const octets = octetsOf(input)
    const { request, failure, entries, told } = await poll(octets)
    const answer = parseJson(octets.toString())
    hold(failure !== undefined || isJsonObject(answer), 'another reader reads an object')
    const stated =
      isJsonObject(answer) && Object.hasOwn(answer, 'sets') ? answer['sets'] : undefined
    // Without events some transmitters write a list, or nothing.
    const sets = isJsonObject(stated) ? stated : {}
    if (failure !== undefined) {
      hold(request === undefined, 'after a failure there is a pause')
      hold(told.length + entries.length === 0, 'what is no answer has no events')
      return
    }
    hold(isJsonObject(stated) || [stated ?? []].flat().length === 0, 'or that there are none')
    const said = request === undefined ? {} : parseJson(request)
    hold(isJsonObject(said), 'a poll is a JSON object')
    const acknowledged = [said['ack'] ?? []].flat().map(String)
    const refused = Object.keys(said['setErrs'] ?? {})
    const expected = Object.keys(sets).slice(0, MAX_TAKEN)
    hold(
      [...acknowledged, ...refused].toSorted().join('\0') === expected.toSorted().join('\0'),
      'each event of the answer has one verdict, and there are no others',
    )
    hold(told.length === expected.length, 'the application is told of each')
    for (const name of acknowledged) checkAcknowledged(name, sets, entries)
    hold(entries.length === acknowledged.length, 'nothing else is recorded')
  },
}

function checkAcknowledged(name: string, sets: JsonObject, entries: readonly object[]): void {
  const claims = parseJson(
    Buffer.from(String(sets[name]).split('.')[1] ?? '', 'base64url').toString(),
  )
  hold(isJsonObject(claims) && claims['jti'] === name, 'what is acknowledged has its name')
  hold(claims['iss'] === ISSUER, 'and is of this issuer')
  const { sub } = claims['sub_id'] as { readonly sub: string } // whatever is signed has it
  hold(
    entries.some((entry) => Reflect.get(entry, 'sub') === sub),
    'and is recorded',
  )
}

interface Polled {
  /** The body of the second poll; `undefined` if there is a pause before it. */
  readonly request: string | undefined
  readonly failure: string | undefined
  readonly entries: readonly object[]
  readonly told: readonly EventMessage[]
}

/** Polls until the first answer is judged. */
async function poll(answer: Buffer): Promise<Polled> {
  const told: EventMessage[] = []
  let polls = 0
  let resolve: ((request: string | undefined) => void) | undefined
  const next = new Promise<string | undefined>((found) => (resolve = found))
  const clock = {
    now: () => NOW,
    monotonic: () => 0,
    after(seconds: number, fn: () => void) {
      if (seconds === TIMEOUT) return () => undefined
      if (polling.status().failures > 0) resolve?.(undefined)
      else queueMicrotask(fn)
      return () => undefined
    },
  }
  const revocations = localRevocations({ clock })
  const polling = pollEvents({
    endpoint: `${ISSUER}/poll`,
    async fetch(_url, { body }) {
      polls += 1
      if (polls === 1) return new Response(answer)
      resolve?.(typeof body === 'string' ? body : '')
      return await new Promise(() => undefined)
    },
    keys,
    issuer: ISSUER,
    audience: 'client',
    revocations,
    revokes: 'subject',
    timeout: TIMEOUT,
    recordTimeout: TIMEOUT,
    clock,
    onEvent: (message) => void told.push(message),
  })
  const request = await next
  const { lastFailure: failure } = polling.status()
  await polling.close()
  return { request, failure, entries: revocations.toSnapshot().entries, told }
}
