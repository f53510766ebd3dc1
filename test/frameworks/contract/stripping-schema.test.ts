import {
  acr,
  authenticatedWithin,
  byIssuer,
  check,
  claim,
  createVerifier,
  localKeys,
  type Requirement,
  type Schema,
  scope,
  type Verifier,
} from '@portcullis/core'
import { stubVerifier } from '@portcullis/testing'
import request from 'supertest'
import { describe, expect, test } from 'vitest'

import { frameworks } from './frameworks/index.ts'
import { bearer, issuer } from './tokens.ts'

// A schema that strips is what `z.object()` makes. It must neither take a right away nor give one.

const schema: Schema<{ sub: string }> = {
  '~standard': {
    version: 1,
    validate: (value) => ({ value: { sub: String((value as { sub?: unknown }).sub) } }),
  },
}

const claims = {
  sub: 'ada',
  scope: 'read',
  role: 'user',
  acr: 'gold',
  auth_time: Math.floor(Date.now() / 1000),
  suspended: true,
}

const verifier = createVerifier({
  keys: localKeys({ keys: [issuer.publicJwk] }),
  issuer: 'https://auth.test',
  audience: null,
  schema,
})

const verifiers: Readonly<Record<string, Verifier<unknown>>> = {
  'a verifier': verifier,
  byIssuer: byIssuer({ 'https://auth.test': verifier }),
  'a stub': stubVerifier({ claims, schema }),
}

const met: readonly (readonly [name: string, requirement: Requirement])[] = [
  ['scope', scope('read')],
  ['claim', claim('role', 'user')],
  ['acr', acr('gold')],
  ['authenticatedWithin', authenticatedWithin(86_400)],
  ['check', check((auth) => auth.claims['role'] === 'user')],
]

const good = await bearer({ claims })

describe.each(frameworks)('$name, with a schema that strips claims', ({ createApp }) => {
  test.each(Object.entries(verifiers))(
    '%s: each requirement reads the claims as they were signed, for a new token and a remembered one',
    async (_, used) => {
      const routes = met.map(([name, requirement]) => ({
        path: `/${name}`,
        requirements: [requirement],
        handle: () => ({}),
      }))
      await using app = await createApp({ guards: [{ verifier: used }], routes })
      const answers: Record<string, number> = {}
      for (const [name] of met) {
        for (const time of ['first', 'then']) {
          const { status } = await request(app.url).get(`/${name}`).set(good)
          answers[`${name} ${time}`] = status
        }
      }
      expect(Object.entries(answers).filter(([, status]) => status !== 200)).toEqual([])
    },
  )

  test.each(Object.entries(verifiers))(
    '%s: a check of a claim that the schema removes fails closed',
    async (_, used) => {
      let ran = false
      const isActive = check((auth) => auth.claims['suspended'] !== true)
      const route = { path: '/', requirements: [isActive], handle: () => ({ ran: (ran = true) }) }
      await using app = await createApp({
        guards: [{ verifier: used }],
        routes: [route],
      })
      expect((await request(app.url).get('/').set(good)).status).toBe(403)
      expect(ran).toBe(false)
    },
  )

  test.each(Object.entries(verifiers))(
    '%s: the handler sees the output, and so does a check of that verifier',
    async (_, used) => {
      const isAda = check(used, ({ claims: signed }, output) => {
        expect(output).toEqual({ sub: 'ada' })
        return signed['role'] === 'user'
      })
      await using app = await createApp({
        guards: [{ verifier: used }],
        routes: [
          {
            path: '/',
            requirements: [isAda],
            handle: (view) => ({
              shown: view.property('auth'),
              found: view.getAuth(used as Verifier).claims,
            }),
          },
        ],
      })
      expect(await request(app.url).get('/').set(good)).toMatchObject({
        status: 200,
        body: { shown: { claims: { sub: 'ada' } }, found: { sub: 'ada' } },
      })
    },
  )

  test('a check of another verifier is a fault of the application: 500', async () => {
    const foreign = check(stubVerifier({ claims }), () => true)
    await using app = await createApp({
      guards: [{ verifier }],
      routes: [{ path: '/', requirements: [foreign], handle: () => ({}) }],
      silent: true,
    })
    expect((await request(app.url).get('/').set(good)).status).toBe(500)
  })
})
