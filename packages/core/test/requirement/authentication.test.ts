import { manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import type { Auth, Claims } from '../../src/claims/auth.ts'
import { AuthError } from '../../src/refusal/errors.ts'
import { acr, authenticatedWithin } from '../../src/requirement/authentication.ts'
import {
  checkRequirementList,
  checkRequirements,
  type Requirement,
} from '../../src/requirement/requirement-list.ts'
import { all, any, scope } from '../../src/requirement/requirement.ts'

const clock = manualClock()
const now = clock.now()

function authWith(claims: unknown): Auth {
  return { claims: claims as Claims, header: { alg: 'RS512' }, token: 'a.b.c' }
}

/** The refusal, as far as clients see it. */
async function answerTo(claims: unknown, ...requirements: Requirement[]): Promise<string> {
  try {
    await checkRequirements(authWith(claims), requirements)
    return 'accepted'
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
    const { status, reason, headers } = error
    const [, values] = /acr_values="([^"]*)"/.exec(headers['WWW-Authenticate'] ?? '') ?? []
    const [, age] = /max_age="([^"]*)"/.exec(headers['WWW-Authenticate'] ?? '') ?? []
    return [status, reason, values ?? '-', age ?? '-'].join(' | ')
  }
}

const within = (age: number) => authenticatedWithin(age, { clock })

describe('authenticatedWithin', () => {
  test.each<[unknown, string]>([
    [{ auth_time: now }, 'accepted'],
    [{ auth_time: now - 300 }, 'accepted'],
    [{ auth_time: now - 300.5 }, '401 | age | - | 300'],
    [{ auth_time: now + 60 }, 'accepted'],
    [{ auth_time: now + 61 }, '401 | age | - | 300'],
    [{ auth_time: now * 1000 }, '401 | age | - | 300'],
    [{ auth_time: Number.NaN }, '401 | age | - | 300'],
    [{ auth_time: Infinity }, '401 | age | - | 300'],
    [{ auth_time: -Infinity }, '401 | age | - | 300'],
    [{ auth_time: String(now) }, '401 | age | - | 300'],
    [{ auth_time: [now] }, '401 | age | - | 300'],
    [{ auth_time: null }, '401 | age | - | 300'],
    [{ auth_time: true }, '401 | age | - | 300'],
    [{ iat: now }, '401 | age | - | 300'],
    [Object.create({ auth_time: now }), '401 | age | - | 300'],
    [undefined, '401 | age | - | 300'],
    ['claims', '401 | age | - | 300'],
  ])('300 seconds, %j: %s', async (claims, answer) => {
    expect(await answerTo(claims, within(300))).toBe(answer)
  })

  test('judges by the time of each use', async () => {
    const time = manualClock()
    const requirement = authenticatedWithin(60, { clock: time })
    const claims = { auth_time: time.now() }
    expect(await answerTo(claims, requirement)).toBe('accepted')
    await time.advance(61)
    expect(await answerTo(claims, requirement)).toBe('401 | age | - | 60')
  })

  test('judges by the clock of the system if none is stated', async () => {
    const claims = { auth_time: Date.now() / 1000 }
    expect(await answerTo(claims, authenticatedWithin(60))).toBe('accepted')
  })

  test.each([0, -1, Number.NaN, Infinity, '60', null, undefined])('%s is a TypeError', (age) => {
    expect(() => authenticatedWithin(age as number)).toThrow(
      'authenticatedWithin: the age must be a number of seconds',
    )
  })

  test('a misspelt option is a TypeError', () => {
    expect(() => authenticatedWithin(1, { clok: clock } as object)).toThrow('known are clock')
  })
})

describe('acr', () => {
  test.each<[unknown, string]>([
    [{ acr: 'phr' }, 'accepted'],
    [{ acr: 'phrh' }, 'accepted'],
    [{ acr: 'PHR' }, '401 | acr | phr phrh | -'],
    [{ acr: 'phr phrh' }, '401 | acr | phr phrh | -'],
    [{ acr: ['phr'] }, '401 | acr | phr phrh | -'],
    [{ acr: '' }, '401 | acr | phr phrh | -'],
    [{ acr: null }, '401 | acr | phr phrh | -'],
    [{}, '401 | acr | phr phrh | -'],
    [Object.create({ acr: 'phr' }), '401 | acr | phr phrh | -'],
    [null, '401 | acr | phr phrh | -'],
  ])('phr or phrh, %j: %s', async (claims, answer) => {
    expect(await answerTo(claims, acr('phr', 'phrh'))).toBe(answer)
  })

  test.each([[], [''], ['a b'], ['a"b'], ['a', 1], ['\u00E9']])(
    '%j is a TypeError',
    (...values) => {
      expect(() => acr(...(values as string[]))).toThrow('acr: the arguments must be classes')
    },
  )
})

describe('one challenge', () => {
  const met = { acr: 'phr', auth_time: now }

  test.each<[title: string, requirements: Requirement[], claims: object, answer: string]>([
    ['both, neither met', [acr('phr'), within(60)], {}, '401 | acr | phr | 60'],
    ['both, one met', [acr('phr'), within(60)], { acr: 'phr' }, '401 | age | phr | 60'],
    ['both in all()', [all(acr('phr'), within(60))], { acr: 'phr' }, '401 | age | phr | 60'],
    ['the shortest of several ages', [within(60), within(300)], {}, '401 | age | - | 60'],
    ['the classes that all accept', [acr('a', 'b'), acr('b', 'c')], {}, '401 | acr | b | -'],
    [
      'the classes that all of three accept',
      [acr('a', 'b', 'c'), acr('a', 'c'), acr('c', 'b')],
      {},
      '401 | acr | c | -',
    ],
    ['classes without a common one', [acr('a'), acr('b')], {}, '401 | acr | a b | -'],
    ['any of two classes', [any(acr('a'), acr('b', 'a'))], {}, '401 | acr | a b | -'],
    ['any of two ages', [any(within(60), within(300))], {}, '401 | age | - | 300'],
    ['any of both', [any(within(60), acr('phr'))], {}, '401 | age | phr | 60'],
    ['any beside another', [any(acr('a'), acr('b')), within(60)], {}, '401 | acr | a b | 60'],
    ['any of two all()', [any(all(acr('a'), within(60)), acr('b'))], {}, '401 | acr | a b | 60'],
    ['a scope that is missing first', [scope('pay'), acr('phr')], {}, '403 | scope | - | -'],
    ['a scope that is missing last', [acr('phr'), scope('pay')], {}, '401 | acr | phr | -'],
    ['any of a scope and a class', [any(scope('pay'), acr('phr'))], {}, '403 | check | - | -'],
    ['all met', [acr('phr'), within(60)], met, 'accepted'],
    ['one of any met', [any(scope('pay'), acr('phr'))], met, 'accepted'],
  ])('%s: %s', async (_, requirements, claims, answer) => {
    checkRequirementList('authorize', requirements)
    expect(await answerTo(claims, ...requirements)).toBe(answer)
  })

  test('takes own members alone', async () => {
    const inherits = Object.assign(
      Object.create({ acr: ['evil'], maxAge: 1 }) as object,
      { reason: 'acr', description: 'own', isMetBy: () => false } as const,
    )
    expect(await answerTo({}, inherits)).toBe('401 | acr | - | -')
  })

  test.each([{ acr: 'phr' }, { acr: ['a b'] }, { maxAge: '60' }, { maxAge: -1 }])(
    'a requirement made by hand with %j is a TypeError',
    (members) => {
      const made = { ...acr('phr'), ...members } as Requirement
      expect(() => {
        checkRequirementList('authorize', [made])
      }).toThrow('authorize: the acr of a requirement must be a list of classes')
    },
  )

  test('asks for the scope that the guard names', async () => {
    const refusal = await checkRequirements(authWith({}), [acr('phr')]).catch(
      (error: unknown) => error,
    )
    const { headers } = (refusal as AuthError).presentedBy({ scope: 'read' })
    expect(headers['WWW-Authenticate']).toBe(
      'Bearer realm="api", error="insufficient_user_authentication", error_description="A different authentication level is required", acr_values="phr", scope="read"',
    )
  })
})
