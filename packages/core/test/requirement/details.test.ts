import { expect, test } from 'vitest'

import type { Auth } from '../../src/claims/auth.ts'
import { AuthError } from '../../src/refusal/errors.ts'
import { checkRequirements, type Requirement } from '../../src/requirement/requirement-list.ts'
import { all, any, anyScope, check, claim, scope } from '../../src/requirement/requirement.ts'

const auth: Auth = {
  claims: {
    scope: 'read canary',
    role: 'canary',
    azp: 'app',
    groups: ['canary', 'canary'],
    org: { id: 7, azp: 'canary' },
  },
  header: { alg: 'RS512' },
  token: 'canary',
}

async function detailOf(requirement: Requirement, given: Auth = auth): Promise<string> {
  try {
    await checkRequirements(given, [requirement])
  } catch (error) {
    if (error instanceof AuthError) return error.detail
  }
  throw new Error('nothing was refused')
}

const custom: Requirement = {
  reason: 'check',
  description: 'office hours\n',
  isMetBy: () => false,
}

test.each<[string, Requirement, string]>([
  ['a scope', scope('read write'), 'the token lacks "write"; the route requires scope read write'],
  [
    'one of some scopes',
    anyScope('a b'),
    'the token lacks "a", "b"; the route requires any scope of a b',
  ],
  [
    'a claim that is missing',
    claim(['org', 'name'], 'x'),
    'claim org > name is missing; expected "x"',
  ],
  ['a value', claim(['org', 'id'], [8, 9]), 'claim org > id is 7; expected one of 8, 9'],
  ['a value of a user', claim('role', 'admin'), 'claim role is a string; expected "admin"'],
  ['a client', claim('azp', 'web'), 'claim azp is "app"; expected "web"'],
  [
    'the name of a client inside of another claim',
    claim(['org', 'azp'], 'web'),
    'claim org > azp is a string; expected "web"',
  ],
  [
    'the function of a claim',
    claim('groups', () => false),
    'claim groups is a list of 2; expected what the function of the route accepts',
  ],
  ['a function', check(() => false), 'the route requires check, which answered false'],
  [
    'one of the parts of all',
    all(scope('read'), claim('sub', 'ada')),
    'claim sub is missing; expected "ada"',
  ],
  [
    'any',
    any(scope('write'), claim('role', 'editor')),
    'the route requires any of (scope write, claim role), and none is met: the token lacks "write"; the route requires scope write; claim role is a string; expected "editor"',
  ],
  [
    'any of parts that say nothing',
    any(check(() => false)),
    'the route requires any of (check), and none is met',
  ],
  [
    'a requirement of somebody else',
    custom,
    String.raw`the route requires office hours\u000a, which answered false`,
  ],
  [
    'one that explains itself',
    { ...custom, explain: () => () => 'the office is closed' },
    'the office is closed',
  ],
])('%s that is not met', async (_, requirement, sentence) => {
  expect(await detailOf(requirement)).toBe(sentence)
})

test('a token without any scope is said to have no claim for them', async () => {
  const detail = await detailOf(scope('read'), { ...auth, claims: {} })
  expect(detail).toContain('it has neither scope nor scp')
})

test('a token without one that looks like an ID token is called one', async () => {
  const detail = await detailOf(scope('read'), { ...auth, claims: { nonce: 'canary' } })
  expect(detail).toContain('as an ID token has: an API takes the access token instead')
  expect(detail).not.toContain('canary')
})
