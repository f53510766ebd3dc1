import { readFileSync } from 'node:fs'

import type { JsonObject, RevocationEntry } from '@portcullis/core'
import { isJsonObject, parseJson } from '@portcullis/kit/json'
import { createTestIssuer, manualClock, type TestIssuer } from '@portcullis/testing'
import { onTestFinished, vi } from 'vitest'

import {
  type EventMessage,
  pollEvents,
  receiveEvents,
  type SecurityEventOptions,
} from '../src/index.ts'
import { createStore } from './scene.ts'

// Transmitters as providers document them: the sample of a page, signed now, pushed and polled.

export type Claims = Readonly<Record<string, unknown>>

export interface Dialect {
  readonly page: string
  readonly issuer: string
  readonly audience: string
  readonly typ: string | undefined
  readonly options: Omit<
    SecurityEventOptions,
    'keys' | 'issuer' | 'audience' | 'revocations' | 'algorithms' | 'clock' | 'onEvent'
  >
}

const WRITTEN_AT = 1_763_870_400
export const clock = manualClock()
const shift = clock.now() - WRITTEN_AT
export const now = clock.now()

/** Times of the page, in seconds or milliseconds, as if it had been written now. */
function shifted(value: unknown): unknown {
  if (typeof value === 'number') {
    if (value > WRITTEN_AT * 500) return value + shift * 1000
    return value > WRITTEN_AT / 2 ? value + shift : value
  }
  if (Array.isArray(value)) return value.map(shifted)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shifted(each)]))
}

/** The first sample of a page. */
export function sampleOf(page: string): Claims {
  const text = readFileSync(new URL(`../docs/${page}.md`, import.meta.url), 'utf8')
  const [, sample = ''] = /```json\n(.*?)```/s.exec(text) ?? []
  return shifted(parseJson(sample)) as JsonObject // the page's own
}

const issuers = new Map<string, Promise<TestIssuer>>()

/** Made once: keys of RSA take long to make. */
export async function issuerOf(iss: string, owner: string): Promise<TestIssuer> {
  const name = JSON.stringify([iss, owner])
  const made = issuers.get(name) ?? createTestIssuer({ clock, algorithm: 'RS256', issuer: iss })
  issuers.set(name, made)
  return await made
}

/** @param owner Of the keys: others have others. */
export async function transmitter(
  { page, issuer: iss, audience, typ, options }: Dialect,
  owner = 'the issuer',
) {
  const issuer = await issuerOf(iss, owner)
  const common = {
    keys: issuer.verifierOptions.keys,
    issuer: iss,
    audience,
    algorithms: ['RS256'] as const,
    clock,
    ...options,
  }

  /** A claim that is `undefined` is left out. */
  async function sign(change: Claims = {}, header: Claims = {}): Promise<string> {
    const claims = { ...sampleOf(page), ...change }
    const omit = ['exp', ...Object.keys(claims)].filter(
      (name) => Reflect.get(claims, name) === undefined,
    )
    return await issuer.token({ claims, header: { typ, ...header }, omit })
  }

  async function push(token: string, stated: Partial<SecurityEventOptions> = {}) {
    const store = createStore()
    const told: EventMessage[] = []
    const receiver = receiveEvents({
      ...common,
      ...stated,
      revocations: store.revocations,
      authorize: null,
      onEvent: (message) => void told.push(message),
    })
    const { status } = await receiver.fetch(
      new Request('https://api.test/events', {
        method: 'POST',
        headers: { 'content-type': 'application/secevent+jwt', accept: 'application/json' },
        body: token,
      }),
    )
    return { status, told, entries: entriesOf(store) }
  }

  /** What the second poll acknowledges, once. */
  async function poll(jti: string, token: string, stated: Partial<SecurityEventOptions> = {}) {
    const store = createStore()
    const bodies: unknown[] = []
    const poller = pollEvents({
      ...common,
      ...stated,
      revocations: store.revocations,
      endpoint: `${iss.replace(/\/$/, '')}/poll`,
      async fetch(_url, { body }) {
        bodies.push(typeof body === 'string' ? parseJson(body) : body)
        const sets = bodies.length === 1 ? { [jti]: token } : {}
        return await Promise.resolve(Response.json({ sets, moreAvailable: false }))
      },
    })
    onTestFinished(async () => {
      await poller.close()
    })
    await vi.waitUntil(async () => {
      await clock.advance(1)
      return bodies.length > 1
    })
    return { asked: bodies[1], entries: entriesOf(store) }
  }

  return { sign, push, poll }
}

function entriesOf(store: ReturnType<typeof createStore>): readonly RevocationEntry[] {
  return store.entries()
}
