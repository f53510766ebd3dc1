import { readdirSync } from 'node:fs'

import {
  AuthError,
  authenticateRequest,
  claim,
  remoteKeys,
  type Requirement,
} from '@portcullis/core'
import { describe, expect, test } from 'vitest'

import { type Case, cases } from './cases.ts'
import { pageOf, publishedKid, tokenOf, tokenOfStranger, world } from './world.ts'
import { type Wrong, wrongTokens } from './wrong-tokens.ts'

// What a page says of `detail` is what a verifier says of the token that the row is about.

const pages = cases.filter(({ differs }) => differs === undefined)

/** The first cells of the table, without the quotes. */
function sentencesOf(each: Case): readonly string[] {
  const [, section = ''] = /## What goes wrong most\n(.*?)\n## /s.exec(pageOf(each)) ?? []
  return [...section.matchAll(/^\| `(.*?)` +\|/gm)].map(([, sentence = '']) => sentence)
}

/** `...` stands for anything. */
function matching(sentence: string): RegExp {
  const parts = sentence
    .split('...')
    .map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`))
  return new RegExp(`^${parts.join('.*')}$`)
}

async function detailOf(each: Case, wrong: Wrong): Promise<string> {
  const { change, by, text, documents, without, preset = each.preset, keyUrl = each.keyUrl } = wrong
  const { verifier } = world({ ...each, preset, keyUrl }, documents)
  const made = async () => {
    if (by === undefined) return await tokenOf(each, change)
    return await tokenOfStranger(each, change, by === 'altered' ? publishedKid(each) : undefined)
  }
  const token = text ?? (await made())
  const refusal: unknown = await (
    without === undefined
      ? verifier.verify(token)
      : authenticateRequest(
          verifier,
          { headers: {}, rawHeaders: [], method: 'GET', url: '/' },
          { credentials: { header: without } },
        )
  ).catch((error: unknown) => error)
  return refusal instanceof AuthError ? refusal.detail : 'accepted'
}

test('each page has its rows', () => {
  const files = readdirSync(new URL('../docs/', import.meta.url)).map((file) =>
    file.replace('.md', ''),
  )
  expect(files.toSorted()).toEqual(Object.keys(wrongTokens).toSorted())
  expect(pages.map(({ page }) => page).toSorted()).toEqual(files.toSorted())
})

describe.each(pages)('$page', (each) => {
  const sentences = sentencesOf(each)
  const rows = wrongTokens[each.page] ?? []

  test('has as many rows as there are tokens for them', () => {
    expect(rows).toHaveLength(sentences.length)
    expect(pageOf(each).split('## What goes wrong most')[1]?.split('\n## ')[0]).not.toMatch(
      /^\| [^`d-]/m,
    )
  })

  test.each(rows.map((row, at) => [sentences[at] ?? '', row] as const))(
    '`%s` is what a verifier says',
    async (sentence, row) => {
      for (const wrong of row) expect(await detailOf(each, wrong)).toMatch(matching(sentence))
    },
  )
})

test.each<[page: string, text: string, requirement: Requirement, claims: object]>([
  [
    'auth0',
    "claim('permissions', 'read:places')",
    claim('permissions', 'read:places'),
    { permissions: ['read:places'] },
  ],
  ['cognito', "claim('cognito:groups', 'editors')", claim('cognito:groups', 'editors'), {}],
  [
    'entra',
    "claim('roles', 'Places.Read')",
    claim('roles', 'Places.Read'),
    { roles: ['Places.Read'] },
  ],
  [
    'keycloak',
    "claim(['realm_access', 'roles'], 'editor')",
    claim(['realm_access', 'roles'], 'editor'),
    {},
  ],
  [
    'keycloak',
    "claim(['resource_access', 'orders', 'roles'], 'read')",
    claim(['resource_access', 'orders', 'roles'], 'read'),
    {},
  ],
  ['okta', "claim('groups', 'Editors')", claim('groups', 'Editors'), { groups: ['Editors'] }],
])('%s: roles are required by %s', async (page, text, requirement, claims) => {
  const each = pages.find((one) => one.page === page)
  if (each === undefined) throw new Error(`there is no page ${page}`)
  expect(pageOf(each)).toContain(`\`${text}\``)
  const { verifier } = world(each)
  const auth = await verifier.verify(await tokenOf(each, { claims: { ...claims } }))
  expect(await requirement.isMetBy(auth)).toBe(true)
  const other = { ...auth, claims: { sub: 'ada', roles: ['other'] } }
  expect(await requirement.isMetBy(other)).toBe(false)
})

test('keycloak at two host names: keys come from the internal one alone, and iss is the public one', async () => {
  const each = pages.find(({ page }) => page === 'keycloak')
  if (each === undefined) throw new Error('there is no page keycloak')
  const keyUrl = 'https://keycloak.internal.example.com/realms/shop/protocol/openid-connect/certs'
  const { asked, verifier } = world({
    ...each,
    keyUrl,
    preset: (keys) => ({ ...each.preset(keys), keys: remoteKeys(keyUrl, keys) }),
  })
  await expect(verifier.verify(await tokenOf(each))).resolves.toBeDefined()
  const inside = { claims: { iss: 'https://keycloak.internal.example.com/realms/shop' } }
  await expect(verifier.verify(await tokenOf(each, inside))).rejects.toMatchObject({
    reason: 'issuer',
  })
  expect(asked).toEqual([keyUrl])
})
