import { createVerifier, remoteKeys } from '@portcullis/core'
import { byForm, introspected } from '@portcullis/introspection'
import { createTestIssuer, introspectionService, manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

// Each wrong answer of an introspection endpoint is refused, with the reason that `@portcullis/testing` says.

const clock = manualClock()
const stated = { audience: 'orders', maxTokenAge: 7200 }
const issuer = await createTestIssuer({ clock, algorithm: 'ES256', ...stated })
const service = introspectionService(issuer)

const signatures = {
  'plain answers': { signed: false, more: {} },
  'signed answers': { signed: true, more: { keys: issuer.verifierOptions.keys } },
}

describe.each(Object.entries(signatures))('%s', async (_, { signed, more }) => {
  const create = () => introspected({ ...service.verifierOptions, ...more })

  test('a sound answer is believed', async () => {
    const { claims } = await create().verify(service.issue({ claims: { sub: 'ada' } }))
    expect(claims).toMatchObject({ sub: 'ada', aud: 'orders', active: true })
  })

  test.each(await service.badAnswers({ signed }))(
    'refused: $name',
    async ({ code, reason, token }) => {
      await expect(create().verify(token)).rejects.toMatchObject({ code, reason })
    },
  )
})

const bindings = [
  ['the key of a proof', { jkt: 'key' }],
  ['a certificate', { x5tS256: 'certificate' }],
  ['both', { jkt: 'key', x5tS256: 'certificate' }],
] as const

describe.each(bindings)(
  'answers about a token that is bound to %s, which is proven',
  (_, boundTo) => {
    test('a sound one is believed', async () => {
      const token = service.issue({ boundTo })
      const { claims } = await introspected(service.verifierOptions).verify(token, {
        possession: boundTo,
      })
      expect(claims).toMatchObject({ aud: 'orders', active: true })
    })

    test('each bad one is refused for its reason', async () => {
      for (const signed of [false, true]) {
        for (const { name, code, reason, token } of await service.badAnswers({ boundTo, signed })) {
          const { more } = signatures[signed ? 'signed answers' : 'plain answers']
          const verifier = introspected({ ...service.verifierOptions, ...more })
          const said = await verifier
            .verify(token, { possession: boundTo })
            .then(() => 'accepted')
            .catch((error: unknown) => error)
          expect([name, said]).toEqual([name, expect.objectContaining({ code, reason })])
        }
      }
    })
  },
)

test('the metadata lead a verifier to the endpoint, and to the keys of signed answers', async () => {
  await using listening = await service.listen()
  const { endpoint: _, ...options } = listening.verifierOptions
  const verifier = introspected({ ...options, keys: remoteKeys(listening.keyUrl, { clock }) })
  const { claims } = await verifier.verify(service.issue({ claims: { sub: 'ada' } }))
  expect(claims).toMatchObject({ sub: 'ada', iss: listening.authUrl })
})

test('a bad token that is a JWT is never asked about', async () => {
  const named = await createTestIssuer({ clock, algorithm: 'ES256', issuer: 'https://auth.test' })
  const its = introspectionService(named)
  const verifier = byForm({
    jwt: createVerifier(named.verifierOptions),
    opaque: introspected(its.verifierOptions),
  })
  const asked = () => named.requests().filter(({ endpoint }) => endpoint === 'introspection')
  for (const { token, reason, name } of await named.badTokens()) {
    const before = asked().length
    const refusal = await verifier.verify(token).catch((error: unknown) => error)
    // What does not even begin like a JWT is for the issuer to know, which says that it is not active.
    const isAsked = !(token.startsWith('ey') && token.includes('.'))
    expect([name, asked().length - before]).toEqual([name, isAsked ? 1 : 0])
    expect([name, refusal]).toEqual([
      name,
      expect.objectContaining({ code: 'invalid_token', reason: isAsked ? 'inactive' : reason }),
    ])
  }
})
