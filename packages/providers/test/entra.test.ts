import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import {
  AuthError,
  authenticateRequest,
  authorizeRequest,
  byIssuer,
  claim,
  createVerifier,
  type IssuerTemplate,
  type KeysSnapshot,
  type RemoteKeysOptions,
} from '@portcullis/core'
import { createTestIssuer, manualClock, type TestIssuer } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { entra, type ProviderOptions } from '../src/index.ts'

// Tokens of many tenants of Entra: who may be mistaken for whom. Each key is the one that its entry in the document says it is.

const LOGIN = 'https://login.microsoftonline.com'
const DOCUMENT = `${LOGIN}/common/discovery/v2.0/keys`
const API = '6e74172b-be56-4843-9ff4-e66a39bb12e3'
const ADA = '11111111-2222-3333-4444-555555555555'
const EVE = '99999999-2222-3333-4444-aaaaaaaaaaaa'
const PERSONAL = '9188040d-6c67-4c5b-b112-36a304b66dad'

const clock = manualClock()
const signer = async () => await createTestIssuer({ algorithm: 'RS256', clock, lifetime: 100_000 })
const [organizations, next, personal, government, silent] = await Promise.all([
  signer(),
  signer(),
  signer(),
  signer(),
  signer(),
])

const GLOBAL = 'microsoftonline.com'
const US = 'microsoftonline.us'

const entry = ({ publicJwk }: TestIssuer, issuer?: string, cloud?: string) => {
  const { alg: _, ...jwk } = publicJwk
  return { ...jwk, issuer, cloud_instance_name: cloud }
}

/** As the document of the global cloud is: the name of the cloud alone tells the keys of another one. And one key whose entry says nothing. */
const KEYS: readonly object[] = [
  entry(organizations, `${LOGIN}/{tenantid}/v2.0`, GLOBAL),
  entry(personal, `${LOGIN}/${PERSONAL}/v2.0`, GLOBAL),
  entry(government, `${LOGIN}/{tenantid}/v2.0`, US),
  entry(silent),
]

const second = (tid: unknown) => `${LOGIN}/${String(tid)}/v2.0`
const first = (tid: unknown) => `https://sts.windows.net/${String(tid)}/`

interface Made {
  readonly by?: TestIssuer
  readonly claims?: Readonly<Record<string, unknown>>
}

async function tokenOf(tid: unknown, { by = organizations, claims = {} }: Made = {}) {
  const own = { iss: second(tid), tid, ver: '2.0', azp: 'web', appid: 'web' }
  return await by.token({ claims: { sub: 'ada', oid: 'o1', aud: API, ...own, ...claims } })
}

type Options = Omit<ProviderOptions['entra'], 'audience'>

function world(options: Options, keysOptions: RemoteKeysOptions = {}) {
  const served = { keys: KEYS, asked: [] as string[], isDown: false }
  const preset = entra(
    { audience: API, ...options },
    {
      clock,
      async fetch(url) {
        served.asked.push(url)
        if (served.isDown) return await Promise.resolve(new Response(null, { status: 500 }))
        const [issuer = '', rest] = url.split('/.well-known/')
        return await Promise.resolve(
          rest === undefined
            ? Response.json({ keys: served.keys })
            : Response.json({ issuer, jwks_uri: `${LOGIN}/${ADA}/discovery/v2.0/keys` }),
        )
      },
      ...keysOptions,
    },
  )
  const verifier = createVerifier(preset)
  async function verdict(token: string): Promise<string> {
    return await verifier.verify(token).then(
      () => 'accepted',
      (error: unknown) => String((error as { reason: unknown }).reason),
    )
  }
  return { served, preset, verifier, verdict }
}

const any: Options = { tenants: 'any' }
const listed: Options = { tenants: [ADA, PERSONAL] }
const old: Options = { tenants: 'any', version: '1.0' }
const asFirst = (tid: string) => ({ claims: { iss: first(tid), ver: '1.0' } })

describe('who may be mistaken for whom', () => {
  test.each<[string, Options, unknown, Made, string]>([
    ['a tenant, where any is accepted', any, ADA, {}, 'accepted'],
    ['another tenant as well', any, EVE, {}, 'accepted'],
    ['a tenant that is listed', listed, ADA, {}, 'accepted'],
    ['one that is not', listed, EVE, {}, 'issuer'],
    [
      'the issuer of one tenant and the tid of another',
      any,
      EVE,
      { claims: { iss: second(ADA) } },
      'issuer',
    ],
    [
      'the tid of a tenant that is listed, of another issuer',
      listed,
      ADA,
      { claims: { iss: second(EVE) } },
      'issuer',
    ],
    ['a personal account, where any is accepted', any, PERSONAL, { by: personal }, 'issuer'],
    ['a personal account whose tenant is listed', listed, PERSONAL, { by: personal }, 'accepted'],
    ['the key of personal accounts for another tenant', any, ADA, { by: personal }, 'unknown_key'],
    ['the same where it is listed', listed, ADA, { by: personal }, 'unknown_key'],
    ['a key of the US cloud', any, ADA, { by: government }, 'unknown_key'],
    [
      'a key of the US cloud, and its issuer',
      any,
      ADA,
      { by: government, claims: { iss: `https://login.microsoftonline.us/${ADA}/v2.0` } },
      'unknown_key',
    ],
    ['a key whose entry has no issuer', any, ADA, { by: silent }, 'unknown_key'],
    ['a key that is not published', any, ADA, { by: next }, 'unknown_key'],
    ['version 1.0 where it is stated', old, ADA, asFirst(ADA), 'accepted'],
    ['version 1.0 by its issuer alone', any, ADA, { claims: { iss: first(ADA) } }, 'issuer'],
    ['version 1.0 beside 2.0', any, ADA, asFirst(ADA), 'issuer'],
    ['version 2.0 beside 1.0', old, ADA, {}, 'issuer'],
    ['version 2.0 with the issuer of 1.0', old, ADA, { claims: { iss: first(ADA) } }, 'claim'],
    ['version 1.0 with the tid of another tenant', old, EVE, asFirst(ADA), 'issuer'],
    [
      'version 1.0 by the key of personal accounts',
      old,
      ADA,
      { ...asFirst(ADA), by: personal },
      'unknown_key',
    ],
    [
      'version 1.0 by a key of the US cloud',
      old,
      ADA,
      { ...asFirst(ADA), by: government },
      'unknown_key',
    ],
    ['another API', any, ADA, { claims: { aud: EVE } }, 'audience'],
  ])('%s', async (_, options, tid, made, verdict) => {
    const { served, ...each } = world(options)
    expect(await each.verdict(await tokenOf(tid, made))).toBe(verdict)
    expect(new Set(served.asked)).toEqual(new Set([DOCUMENT]))
    expect(served.asked.length).toBeLessThanOrEqual(2)
  })

  // Also with the `iss` that fits it.
  test.each<[string, unknown]>([
    ['in upper case', EVE.toUpperCase()],
    ['{tenantid}', '{tenantid}'],
    ['common', 'common'],
    ['with a slash', `${ADA}/..`],
    ['of a path', `../${ADA}`],
    ['with a percent sign', `${ADA}%2f`],
    ['with a query', `${ADA}?`],
    ['empty', ''],
    ['a number', 7],
    ['a list', [ADA]],
    ['null', null],
    ['with a line break', `${ADA}\n`],
    ['a domain', 'contoso.onmicrosoft.com'],
  ])('a tid %s is refused, and nothing but the document is asked for', async (_, tid) => {
    const { served, verdict } = world(any)
    expect(await verdict(await tokenOf(tid))).toBe('issuer')
    expect(await verdict(await tokenOf(tid, { claims: { iss: second(ADA) } }))).toBe('issuer')
    expect(served.asked).toEqual([DOCUMENT])
  })
})

describe('keys of another cloud in the document of this one', () => {
  const oneTenant: Options = { tenant: ADA }
  const ownKeys: Options = { tenant: ADA, appKeys: API }

  test.each<[string, Options, Made]>([
    ['of any tenant', any, {}],
    ['of any tenant, version 1.0', old, asFirst(ADA)],
    ['of tenants that are listed', listed, {}],
    ['of one tenant', oneTenant, {}],
    ['of one tenant, version 1.0', { ...oneTenant, version: '1.0' }, asFirst(ADA)],
    ['of an application', ownKeys, {}],
    ['of an application, version 1.0', { ...ownKeys, version: '1.0' }, asFirst(ADA)],
  ])('prove nothing: tokens %s', async (_, options, made) => {
    const { verdict } = world(options)
    expect(await verdict(await tokenOf(ADA, made))).toBe('accepted')
    expect(await verdict(await tokenOf(ADA, { ...made, by: government }))).toBe('unknown_key')
  })

  test.each<['us' | 'china', string, string]>([
    ['us', 'https://login.microsoftonline.us', US],
    ['china', 'https://login.partner.microsoftonline.cn', 'partner.microsoftonline.cn'],
  ])('are those of the global cloud where %s is stated', async (cloud, login, name) => {
    const issuer = `${login}/${ADA}/v2.0`
    const { served, verdict } = world({ tenants: 'any', cloud })
    const template = `${login}/{tenantid}/v2.0`
    served.keys = [entry(government, template, name), entry(organizations, template, GLOBAL)]
    const claims = { iss: issuer }
    expect(await verdict(await tokenOf(ADA, { by: government, claims }))).toBe('accepted')
    expect(await verdict(await tokenOf(ADA, { claims }))).toBe('unknown_key')
  })

  test('a refusal says which cloud was expected', async () => {
    const { verifier } = world(any)
    const refusal = verifier.verify(await tokenOf(ADA, { by: government }))
    await expect(refusal).rejects.toMatchObject({
      detail: expect.stringContaining(
        'cannot be used: cloud_instance_name is not microsoftonline.com',
      ) as unknown,
    })
  })

  test('prove nothing either after a start from a snapshot that was saved without a look at clouds', async () => {
    const { served, preset, verdict } = world(any)
    expect(await verdict(await tokenOf(ADA))).toBe('accepted')
    expect(served.asked).toHaveLength(1)
    const { ifStated, ...saved } = preset.keys.toSnapshot() as KeysSnapshot
    expect(ifStated).toEqual([['cloud_instance_name', [GLOBAL]]])
    const started = world(any, { snapshot: saved })
    started.served.isDown = true
    expect(await started.verdict(await tokenOf(ADA))).not.toBe('accepted')
  })

  test('the options of the keys can add to the cloud, and cannot change it', async () => {
    const ifStated = { cloud_instance_name: US, x5t: 'none' }
    const { served, verdict } = world(any, { ifStated })
    served.keys = [...KEYS, { ...entry(next, second('{tenantid}'), GLOBAL), x5t: 'other' }]
    expect(await verdict(await tokenOf(ADA))).toBe('accepted')
    expect(await verdict(await tokenOf(ADA, { by: government }))).toBe('unknown_key')
    expect(await verdict(await tokenOf(ADA, { by: next }))).toBe('unknown_key')
  })
})

describe('of one tenant, the key', () => {
  test.each<[string, Options, string | undefined, string]>([
    ['for this tenant counts', {}, second(ADA), 'accepted'],
    ['for all tenants counts', {}, second('{tenantid}'), 'accepted'],
    ['whose entry says nothing counts', {}, undefined, 'accepted'],
    ['for personal accounts proves nothing', {}, second(PERSONAL), 'unknown_key'],
    ['for another tenant proves nothing', {}, second(EVE), 'unknown_key'],
    ['of an application counts', { appKeys: API }, undefined, 'accepted'],
  ])('%s', async (_, options, issuer, expected) => {
    const { served, verdict } = world({ tenant: ADA, ...options })
    served.keys = [...KEYS, entry(next, issuer, GLOBAL)]
    expect(await verdict(await tokenOf(ADA, { by: next }))).toBe(expected)
  })
})

test('both versions of any tenant, by a function of byIssuer', async () => {
  const [one, two] = [world(old), world(any)]
  const verifier = byIssuer((iss) => {
    if (iss.startsWith('https://sts.windows.net/')) return one.verifier
    return iss.startsWith(`${LOGIN}/`) ? two.verifier : undefined
  })
  await expect(verifier.verify(await tokenOf(ADA, asFirst(ADA)))).resolves.toBeDefined()
  await expect(verifier.verify(await tokenOf(ADA))).resolves.toBeDefined()
  await expect(
    verifier.verify(await tokenOf(EVE, { claims: { iss: second(ADA) } })),
  ).rejects.toMatchObject({ reason: 'issuer' })
  for (const iss of [
    'https://evil.example/',
    'https://evil.example/v2.0',
    first('common'),
    second(PERSONAL),
  ]) {
    const refusal = verifier.verify(await tokenOf(ADA, { claims: { iss } }))
    await expect(refusal).rejects.toMatchObject({ status: 401, reason: 'unknown_key' })
  }
})

describe('ENTRA-TENANTS.md', () => {
  const guide = readFileSync(new URL('../ENTRA-TENANTS.md', import.meta.url), 'utf8')

  function rowsUnder(heading: string): readonly string[][] {
    const [, section = ''] = guide.split(`\n## ${heading}\n`)
    const [part = ''] = section.split('\n## ')
    const [, , ...rows] = part.split('\n').filter((line) => line.startsWith('| '))
    return rows.map((row) => row.slice(2, -2).split(' | '))
  }

  const wrong: readonly (readonly [Options, unknown, Made])[] = [
    [any, ADA, asFirst(ADA)],
    [any, PERSONAL, { by: personal }],
    [listed, EVE, {}],
    [any, ADA, { by: silent }],
    [any, ADA, { by: government }],
    [any, ADA, { by: next }],
  ]

  test('says of `detail` what a verifier says', async () => {
    const sentences = rowsUnder('What goes wrong most').map(([sentence = '']) => sentence)
    expect(sentences).toHaveLength(wrong.length)
    for (const [at, [options, tid, made]] of wrong.entries()) {
      const parts = sentences[at]?.replaceAll('`', '').split('...') ?? []
      const refusal = world(options).verifier.verify(await tokenOf(tid, made))
      const error: unknown = await refusal.catch((thrown: unknown) => thrown)
      const detail = error instanceof AuthError ? error.detail : ''
      let end = 0
      for (const part of parts) {
        expect(detail.indexOf(part, end), `${part} in ${detail}`).toBeGreaterThanOrEqual(end)
        end = detail.indexOf(part, end) + part.length
      }
    }
  })

  test('names options that there are in place of those of passport-azure-ad', () => {
    const sources = ['providers', 'core', 'express'].flatMap((name) =>
      globSync(`../../${name}/src/**/*.ts`, { cwd: import.meta.dirname }),
    )
    const text = sources.map((path) => readFileSync(join(import.meta.dirname, path), 'utf8')).join()
    const named = rowsUnder('From passport-azure-ad').flatMap(([, now = '']) =>
      [...now.matchAll(/`(.*?)`/g)].flatMap(
        ([, code = '']) => code.replaceAll(/'.*?'/g, '').match(/[A-Za-z]\w+/g) ?? [],
      ),
    )
    expect(named.length).toBeGreaterThan(15)
    // What is no option, and what tokens have.
    const given = new Set(['request', 'NODE_DEBUG', 'portcullis', 'spn'])
    const unknown = named.filter(
      (name) => !given.has(name) && !new RegExp(`\\b${name}\\b`).test(text),
    )
    expect(unknown).toEqual([])
  })
})

describe('in a rotation', () => {
  test('a new key of all tenants is found in that very request, and the old one proves nothing', async () => {
    const { served, verdict } = world(any)
    expect(await verdict(await tokenOf(ADA))).toBe('accepted')
    served.keys = [entry(next, second('{tenantid}'))]
    await clock.advance(10)
    expect(await verdict(await tokenOf(EVE, { by: next }))).toBe('accepted')
    expect(await verdict(await tokenOf(ADA))).toBe('unknown_key')
    expect(served.asked).toHaveLength(2)
  })

  test('a process that starts from a snapshot trusts each key for the issuer that its entry named', async () => {
    const { served, preset, verdict } = world(listed)
    expect(await verdict(await tokenOf(ADA))).toBe('accepted')
    expect(served.asked).toHaveLength(1)
    const snapshot = JSON.parse(JSON.stringify(preset.keys.toSnapshot())) as KeysSnapshot
    const started = world(listed, { snapshot })
    started.served.isDown = true
    expect(await started.verdict(await tokenOf(ADA))).toBe('accepted')
    expect(await started.verdict(await tokenOf(PERSONAL, { by: personal }))).toBe('accepted')
    expect(await started.verdict(await tokenOf(ADA, { by: personal }))).not.toBe('accepted')
    expect(await started.verdict(await tokenOf(ADA, { by: silent }))).not.toBe('accepted')
  })
})

describe('roles', () => {
  const claims = { roles: ['Places.Read'], wids: ['62e90394-69f5-4237-9190-012177145e10'] }

  async function requires(name: 'roles' | 'wids', options: Options): Promise<unknown> {
    const { verifier } = world(options)
    const headers = { authorization: `Bearer ${await tokenOf(ADA, { claims })}` }
    const request = { headers }
    await authenticateRequest(verifier, request)
    const calling = authorizeRequest(request, [claim(name, claims[name][0] ?? '')])
    return await calling.then(
      () => 'met',
      (error: unknown) => error,
    )
  }

  test.each(['groups', 'acrs'])('%s can be required where that is waived', (name) => {
    const options = { ...any, requiredClaims: { [name]: 'a' } }
    expect(() => world({ ...options, rolesAssignedBy: 'any' })).not.toThrow()
  })

  test.each(['email', 'upn', 'preferred_username', 'unique_name'])(
    '%s cannot be required even where roles can',
    (name) => {
      const options = { ...any, rolesAssignedBy: 'any', requiredClaims: { [name]: 'a' } } as const
      expect(() => world(options)).toThrow(`requiredClaims must not have "${name}"`)
    },
  )

  test.each(['groups', 'email', 'upn', 'preferred_username', 'unique_name', 'acrs'])(
    '%s of any tenant cannot be required either, and of tenants that are listed it can',
    (name) => {
      const requiredClaims = { [name]: 'a' }
      expect(() => world({ ...any, requiredClaims })).toThrow(
        `requiredClaims must not have "${name}"`,
      )
      expect(() => world({ ...listed, requiredClaims })).not.toThrow()
    },
  )

  test('are a list of each verifier: whoever changes one changes no other', () => {
    const [{ preset: one }, { preset: other }] = [world(any), world(any)]
    expect(one.issuer).toEqual(other.issuer)
    const [ofOne, ofOther] = [one, other].map(
      ({ issuer }) => (issuer as IssuerTemplate).decidedByTenants,
    )
    expect(ofOne).not.toBe(ofOther)
  })

  test.each(['roles', 'wids'] as const)(
    '%s of any tenant cannot be required, unless that is waived in writing',
    async (name) => {
      expect(await requires(name, any)).toMatchObject({ status: 403, reason: 'claim' })
      expect(await requires(name, { tenants: 'any', rolesAssignedBy: 'any' })).toBe('met')
      expect(await requires(name, listed)).toBe('met')
      const options = { tenants: 'any', requiredClaims: { [name]: 'a' } } as const
      expect(() => world(options)).toThrow(`requiredClaims must not have "${name}"`)
      expect(() => world({ ...options, rolesAssignedBy: 'any' })).not.toThrow()
    },
  )
})
