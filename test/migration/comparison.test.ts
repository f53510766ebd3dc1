import { readFileSync } from 'node:fs'

import { createTestIssuer } from '@portcullis/testing'
import { JwtVerifier } from 'aws-jwt-verify'
import { SimpleJwksCache } from 'aws-jwt-verify/jwk'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'

import { tableUnder } from '../documents/markdown.ts'
import { AFTER, peers } from './peers.ts'
import { publishKeys } from './published-keys.ts'

// The table "Why not another package" of README.md: what each package answers, and what its guard costs.

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
const { rows } = tableUnder(read('../../README.md'), 'Why not another package', 'Package')
const costs = tableUnder(read('../bench/README.md'), 'Guarded routes', 'Framework').rows

const ANSWERS = [
  'a new key behind the same `kid`',
  'the key endpoint is down',
  'a bad token on an optional route',
] as const

const behaviours = [...peers, { name: 'Portcullis', before: AFTER }].filter(({ name }) =>
  rows.some(([shown = '']) => shown.split(',')[0] === name),
)

test('the table has the packages that are tried before a migration, and two that are called by hand', () => {
  const names = rows.map(([shown = '']) => shown.split(',')[0])
  expect(new Set(names)).toEqual(
    new Set([...behaviours.map(({ name }) => name), 'aws-jwt-verify', 'jose']),
  )
  expect(names).toHaveLength(8)
})

test.each(behaviours)('$name answers as its application does in test/migration', (peer) => {
  const [, ...cells] = rows.find(([shown = '']) => shown.split(',')[0] === peer.name) ?? []
  expect(cells.slice(0, ANSWERS.length)).toEqual(ANSWERS.map((answer) => peer.before[answer]))
})

test('the times are those of the guarded routes with 50 tokens', () => {
  const stated = rows.flatMap(([name = '', , , , times = '']) =>
    [...times.matchAll(/\d+\.\d/g)].map(([time]) => ({ name, time })),
  )
  expect(stated.length).toBeGreaterThan(6)
  for (const { name, time } of stated) {
    const [first = ''] = name.split(',')
    const measured = costs.filter(([, guard = '']) => guard.startsWith(first))
    expect(measured.map((row) => row[3])).toContain(time)
  }
})

test('who lists routes exports what does, and nobody else exports anything about routes', async () => {
  for (const [shown = '', ...cells] of rows) {
    const names = shown === 'Portcullis' ? ['@portcullis/express/routes'] : shown.split(', ')
    const modules = await Promise.all(
      names
        .filter((name) => /^[@\w/-]+$/.test(name))
        .map(async (name) => (await import(name)) as Readonly<Record<string, unknown>>),
    )
    const exported = modules.flatMap((module) => Object.keys(module))
    expect(exported).not.toEqual([])
    const lists = exported.filter((name) => /route/i.test(name))
    expect([shown, cells.at(-1)?.replace(/^\[(\w+)\].*/, '$1')]).toEqual([
      shown,
      lists.length > 0 ? 'yes' : 'no',
    ])
  }
})

/** Its own fetcher takes https alone, and throws as this one does. */
const jwksCache = new SimpleJwksCache({ fetcher: { fetch: fetchOctets } })

const BY_HAND: Readonly<Record<string, (keyUrl: string) => (token: string) => Promise<unknown>>> = {
  jose(keyUrl) {
    const keySet = createRemoteJWKSet(new URL(keyUrl))
    return async (token) => await jwtVerify(token, keySet)
  },
  'aws-jwt-verify'(keyUrl) {
    const rules = { jwksUri: keyUrl, issuer: null, audience: null }
    const verifier = JwtVerifier.create(rules, { jwksCache })
    return async (token) => await verifier.verify(token)
  },
}

describe.each(Object.entries(BY_HAND))('%s, called by hand', (name, createVerify) => {
  const row = rows.find(([shown = '']) => shown.split(',')[0] === name)

  test('refuses the first token of a new key behind the same kid', async () => {
    await using keys = await publishKeys()
    const verify = createVerify(`${keys.url}/.well-known/jwks.json`)
    await verify(await keys.issuer.token())
    await keys.issuer.rotate({ kid: 'same' })
    await expect(verify(await keys.issuer.token())).rejects.toThrow(/signature/i)
    expect(row?.[1]).toBe('refused')
  })

  test('throws an error that is not about the token while the key endpoint is down', async () => {
    await using keys = await publishKeys()
    const token = await keys.issuer.token()
    keys.issuer.outage(503)
    const verify = createVerify(`${keys.url}/.well-known/jwks.json`)
    const error: unknown = await verify(token).catch((reason: unknown) => reason)
    const stranger = await (await createTestIssuer({ algorithm: 'RS256' })).token()
    expect(error).toBeInstanceOf(Error)
    // As with any other token: nothing was found out about this one.
    await expect(verify(stranger)).rejects.toThrow((error as Error).message.slice(0, 20))
    expect(row?.[2]).toBe('throws')
  })
})

async function fetchOctets(url: string): Promise<ArrayBuffer> {
  const answer = await fetch(url)
  if (!answer.ok) throw new Error(`the status is ${answer.status}`)
  return await answer.arrayBuffer()
}
