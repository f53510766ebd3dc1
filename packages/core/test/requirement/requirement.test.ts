import { describe, expect, test } from 'vitest'

import type { Auth, Claims } from '../../src/claims/auth.ts'
import type { RequiredValue } from '../../src/claims/required-claims.ts'
import { AuthError } from '../../src/refusal/errors.ts'
import {
  checkRequirementList,
  checkRequirements,
  type Requirement,
} from '../../src/requirement/requirement-list.ts'
import { all, any, anyScope, check, claim, scope } from '../../src/requirement/requirement.ts'

function authWith(claims: Claims): Auth {
  return { claims, header: { alg: 'RS512' }, token: 'a.b.c' }
}

function isAda({ claims }: Auth): boolean {
  return claims.sub === 'ada'
}

async function isMet(requirement: Requirement, claims: Claims): Promise<boolean> {
  return await requirement.isMetBy(authWith(claims))
}

async function refusalOf(claims: Claims, ...requirements: readonly Requirement[]) {
  const outcome: unknown = await checkRequirements(authWith(claims), requirements).catch(
    (error: unknown) => error,
  )
  expect(outcome).toBeInstanceOf(AuthError)
  return outcome as AuthError
}

describe('scope', () => {
  test.each<{ name: string; wanted: string; claims: Claims }>([
    { name: 'the only one', wanted: 'read', claims: { scope: 'read' } },
    { name: 'one of several', wanted: 'read', claims: { scope: 'write read admin' } },
    { name: 'each of several', wanted: 'read write', claims: { scope: 'write admin read' } },
    { name: 'in scp as a text', wanted: 'read', claims: { scp: 'write read' } },
    { name: 'in scp as a list', wanted: 'read write', claims: { scp: ['write', 'read'] } },
    { name: 'some in scope, some in scp', wanted: 'a b', claims: { scope: 'a', scp: ['b'] } },
    { name: 'twice the same', wanted: 'read read', claims: { scope: 'read' } },
    { name: 'among several spaces', wanted: 'read', claims: { scope: '  write   read ' } },
    { name: 'with punctuation', wanted: "a:b/c.d!#[]'~", claims: { scope: "x a:b/c.d!#[]'~" } },
    { name: 'beside values of other types', wanted: 'read', claims: { scp: [1, null, 'read'] } },
  ])('$name is granted', async ({ wanted, claims }) => {
    expect(await isMet(scope(wanted), claims)).toBe(true)
  })

  test.each<{ name: string; wanted: string; claims: Claims }>([
    { name: 'no claim', wanted: 'read', claims: {} },
    { name: 'an empty text', wanted: 'read', claims: { scope: '' } },
    { name: 'an empty list', wanted: 'read', claims: { scp: [] } },
    { name: 'another scope', wanted: 'read', claims: { scope: 'write' } },
    { name: 'all but one', wanted: 'read write', claims: { scope: 'read' } },
    { name: 'another case', wanted: 'read', claims: { scope: 'Read' } },
    { name: 'a beginning', wanted: 'read', claims: { scope: 'rea' } },
    { name: 'a longer scope', wanted: 'read', claims: { scope: 'read:all' } },
    { name: 'commas between scopes', wanted: 'read', claims: { scope: 'read,write' } },
    { name: 'a tab between scopes', wanted: 'read', claims: { scope: 'read\twrite' } },
    { name: 'a list within a list', wanted: 'read', claims: { scp: [['read']] } },
    { name: 'two scopes in one value of a list', wanted: 'read', claims: { scp: ['read write'] } },
    { name: 'an object', wanted: 'read', claims: { scp: { read: true } } },
    { name: 'true', wanted: 'true', claims: { scope: true } },
    { name: 'a number', wanted: '1', claims: { scope: 1, scp: [1] } },
    { name: 'another claim', wanted: 'read', claims: { scopes: 'read', roles: ['read'] } },
  ])('$name does not grant it', async ({ wanted, claims }) => {
    expect(await isMet(scope(wanted), claims)).toBe(false)
  })

  test('an inherited claim grants nothing', async () => {
    const claims = Object.create({ scope: 'read', scp: ['read'] }) as Claims
    expect(await isMet(scope('read'), claims)).toBe(false)
  })

  test('says what it wants', () => {
    expect(scope('read write')).toMatchObject({
      reason: 'scope',
      description: 'scope read write',
      scope: 'read write',
    })
  })

  test.each([
    { name: 'nothing', scopes: '' },
    { name: 'a space', scopes: ' ' },
    { name: 'a space in front', scopes: ' read' },
    { name: 'a space at the end', scopes: 'read ' },
    { name: 'two spaces', scopes: 'read  write' },
    { name: 'a tab', scopes: 'read\twrite' },
    { name: 'a line feed at the end', scopes: 'read\n' },
    { name: 'a header in the challenge', scopes: 'read\r\nSet-Cookie: a=b' },
    { name: 'a quote', scopes: 'read"' },
    { name: 'a backslash', scopes: 'read\\' },
    { name: 'a letter beyond ASCII', scopes: 'l\u00E9er' },
    { name: 'DEL', scopes: 'read\u007F' },
    { name: 'undefined', scopes: undefined },
    { name: 'null', scopes: null },
    { name: 'a list', scopes: ['read'] },
    { name: 'a number', scopes: 1 },
  ])('$name is no list of scopes', ({ scopes }) => {
    const act = () => scope(scopes as string)
    expect(act).toThrow(TypeError)
    expect(act).toThrow(`scope: ${JSON.stringify(scopes)} is not a space-separated list of scopes`)
  })
})

describe('claim', () => {
  test.each<{ name: string; path: string | string[]; expected: RequiredValue }>([
    { name: 'a text', path: 'text', expected: 'x' },
    { name: 'an empty text', path: 'empty', expected: '' },
    { name: 'a number', path: 'number', expected: 1 },
    { name: 'zero', path: 'zero', expected: 0 },
    { name: 'true', path: 'yes', expected: true },
    { name: 'false', path: 'no', expected: false },
    { name: 'one of several values', path: 'text', expected: [1, 'y', 'x'] },
    { name: 'a list that contains it', path: 'list', expected: 'b' },
    { name: 'a list that contains one of several', path: 'list', expected: ['z', 'c'] },
    { name: 'a nested one', path: ['deep', 'deeper', 'deepest'], expected: 'found' },
    { name: 'a nested list', path: ['deep', 'roles'], expected: 'admin' },
    { name: 'a path of one', path: ['text'], expected: 'x' },
    { name: 'a name with dots', path: 'a.b', expected: 'dotted' },
    { name: 'a name that is a URL', path: 'https://x.example/roles', expected: 'url' },
    { name: 'an own claim called toString', path: 'toString', expected: 'own' },
    { name: 'an empty name', path: '', expected: 'nameless' },
  ])('$name is met', async ({ path, expected }) => {
    expect(
      await isMet(claim(path, expected), {
        text: 'x',
        empty: '',
        number: 1,
        zero: 0,
        yes: true,
        no: false,
        list: ['a', 'b', 'c'],
        deep: { deeper: { deepest: 'found' }, roles: ['user', 'admin'] },
        'a.b': 'dotted',
        'https://x.example/roles': 'url',
        toString: 'own',
        '': 'nameless',
      }),
    ).toBe(true)
  })

  test.each<{ name: string; path: string | string[]; expected: RequiredValue }>([
    { name: 'an absent claim', path: 'absent', expected: 'x' },
    { name: 'an absent claim, as the text undefined', path: 'absent', expected: 'undefined' },
    { name: 'an absent claim, as an empty text', path: 'absent', expected: '' },
    { name: 'another value', path: 'text', expected: 'y' },
    { name: 'another case', path: 'text', expected: 'X' },
    { name: 'a beginning', path: 'long', expected: 'adm' },
    { name: 'a number for a text', path: 'one', expected: 1 },
    { name: 'a text for a number', path: 'number', expected: '1' },
    { name: 'true for a number', path: 'number', expected: true },
    { name: 'false for null', path: 'nil', expected: false },
    { name: 'the text null for null', path: 'nil', expected: 'null' },
    { name: 'zero for an empty text', path: 'empty', expected: 0 },
    { name: 'zero for an empty list', path: 'none', expected: 0 },
    { name: 'an empty text for an empty list', path: 'none', expected: '' },
    { name: 'a list without it', path: 'list', expected: 'z' },
    { name: 'a list within a list', path: 'lists', expected: 'a' },
    { name: 'an object with such a member', path: 'deep', expected: 'x' },
    { name: 'a path through a text', path: ['text', 'length'], expected: 1 },
    { name: 'a path through a list', path: ['list', '0'], expected: 'a' },
    { name: 'the length of a list', path: ['list', 'length'], expected: 1 },
    { name: 'a path through null', path: ['nil', 'x'], expected: 'x' },
    { name: 'a path that goes on', path: ['deep', 'a', 'b', 'c'], expected: 'x' },
    { name: 'a path written with dots', path: 'deep.a', expected: 'x' },
    { name: 'an inherited name', path: ['constructor', 'name'], expected: 'Object' },
    { name: 'the prototype', path: ['__proto__', 'x'], expected: 'x' },
  ])('$name is not met', async ({ path, expected }) => {
    expect(
      await isMet(claim(path, expected), {
        text: 'x',
        long: 'admin',
        one: '1',
        number: 1,
        nil: null,
        empty: '',
        none: [],
        list: ['a'],
        lists: [['a']],
        deep: { a: 'x' },
      }),
    ).toBe(false)
  })

  test('a predicate sees the value and decides', async () => {
    const isAdult = claim('age', (value) => typeof value === 'number' && value >= 18)
    expect(await isMet(isAdult, { age: 18 })).toBe(true)
    expect(await isMet(isAdult, { age: 17 })).toBe(false)
    expect(await isMet(isAdult, { age: '18' })).toBe(false)
  })

  test('a predicate sees null, and is not asked about an absent claim', async () => {
    const seen: unknown[] = []
    const requirement = claim(['a', 'b'], (value) => {
      seen.push(value)
      return true
    })
    expect(await isMet(requirement, { a: { b: null } })).toBe(true)
    expect(await isMet(requirement, { a: {} })).toBe(false)
    expect(await isMet(requirement, {})).toBe(false)
    expect(seen).toEqual([null])
  })

  test('a predicate that answers something truthy lets nobody in', async () => {
    const error = await refusalOf({ role: 'admin' }, claim('role', (() => 'yes') as never))
    expect(error).toMatchObject({ code: 'insufficient_scope', reason: 'claim', status: 403 })
  })

  test('the values are those of the start', async () => {
    const values = ['user']
    const requirement = claim('role', values)
    values.push('admin')
    expect(await isMet(requirement, { role: 'admin' })).toBe(false)
  })

  test.each([
    { name: 'a name', path: 'role', description: 'claim role' },
    { name: 'a path', path: ['realm', 'roles'], description: 'claim realm > roles' },
  ])('names what it wants by $name, and tells the client no scope', ({ path, description }) => {
    const requirement = claim(path, 'admin')
    expect(requirement).toMatchObject({ reason: 'claim', description })
    expect(requirement.scope).toBeUndefined()
  })

  test.each([
    { name: 'undefined', path: undefined },
    { name: 'null', path: null },
    { name: 'a number', path: 1 },
    { name: 'an empty list', path: [] },
    { name: 'a list with a number', path: ['a', 1] },
    { name: 'an object', path: { a: 1 } },
  ])('$name is no name of a claim', ({ path }) => {
    const act = () => claim(path as never, 'x')
    expect(act).toThrow(TypeError)
    expect(act).toThrow('claim: the name must be a string or a list of strings')
  })

  test.each([
    { name: 'undefined', expected: undefined },
    { name: 'null', expected: null },
    { name: 'an empty list', expected: [] },
    { name: 'an object', expected: {} },
    { name: 'a regular expression', expected: /x/ },
    { name: 'a list with null', expected: ['x', null] },
    { name: 'a list within a list', expected: [['x']] },
    { name: 'a list with a function', expected: [() => true] },
    { name: 'a big integer', expected: 1n },
  ])('$name is no value to compare with', ({ expected }) => {
    const act = () => claim('role', expected as never)
    expect(act).toThrow(TypeError)
    expect(act).toThrow('claim: the values must be strings, numbers or booleans')
  })
})

describe('check', () => {
  test('the decision is that of the function, which sees the Auth', async () => {
    const seen: Auth[] = []
    const requirement = check((auth) => {
      seen.push(auth)
      return isAda(auth)
    })
    const auth = authWith({ sub: 'ada' })
    await expect(checkRequirements(auth, [requirement])).resolves.toBeUndefined()
    expect(seen).toEqual([auth])
    const error = await refusalOf({ sub: 'eve' }, requirement)
    expect(error).toMatchObject({ code: 'insufficient_scope', reason: 'check', status: 403 })
  })

  test('the decision may be awaited', async () => {
    const requirement = check(async (auth) => await Promise.resolve(isAda(auth)))
    const auth = authWith({ sub: 'ada' })
    await expect(checkRequirements(auth, [requirement])).resolves.toBeUndefined()
    expect((await refusalOf({ sub: 'eve' }, requirement)).reason).toBe('check')
  })

  test.each([
    { name: 'undefined', answer: undefined },
    { name: 'null', answer: null },
    { name: 'false', answer: false },
    { name: 'one', answer: 1 },
    { name: 'the text true', answer: 'true' },
    { name: 'an object', answer: {} },
    { name: 'a true object', answer: Object(true) as unknown },
    { name: 'a promise of a text', answer: Promise.resolve('true') },
    { name: 'a promise of nothing', answer: Promise.resolve() },
  ])('anything but true refuses: $name', async ({ answer }) => {
    const error = await refusalOf(
      {},
      check(() => answer as boolean),
    )
    expect(error).toMatchObject({ code: 'insufficient_scope', reason: 'check', status: 403 })
  })

  test.each([
    {
      name: 'throws',
      decide: (): boolean => {
        throw new RangeError('a fault')
      },
    },
    {
      name: 'rejects',
      decide: async () => await Promise.reject<boolean>(new RangeError('a fault')),
    },
  ])('a function that $name is a fault, not a refusal', async ({ decide }) => {
    const outcome = checkRequirements(authWith({}), [check(decide)])
    await expect(outcome).rejects.toThrow(RangeError)
    await expect(outcome).rejects.toThrow('a fault')
  })

  test('is described by the name of the function', () => {
    expect(check(isAda)).toMatchObject({ reason: 'check', description: 'check isAda' })
    expect(check(() => true).description).toBe('check')
  })

  test.each([
    { name: 'undefined', decide: undefined },
    { name: 'true', decide: true },
    { name: 'a requirement', decide: scope('read') },
  ])('$name is no decision', ({ decide }) => {
    const act = () => check(decide as never)
    expect(act).toThrow(TypeError)
    expect(act).toThrow('check: the decision must be a function')
  })
})

describe('several requirements', () => {
  test('none of them is no obstacle', async () => {
    await expect(checkRequirements(authWith({}), [])).resolves.toBeUndefined()
  })

  test('all of them must be met', async () => {
    const requirements = [scope('read'), claim('role', 'admin'), check(() => true)]
    const claims = { scope: 'read', role: 'admin' }
    await expect(checkRequirements(authWith(claims), requirements)).resolves.toBeUndefined()
    expect((await refusalOf({ role: 'admin' }, ...requirements)).reason).toBe('scope')
    expect((await refusalOf({ scope: 'read' }, ...requirements)).reason).toBe('claim')
    expect(
      (
        await refusalOf(
          claims,
          ...requirements,
          check(() => false),
        )
      ).reason,
    ).toBe('check')
  })

  test('the first that is not met ends the check and is the private cause', async () => {
    const asked: string[] = []
    const asks = (name: string, answer: boolean) =>
      check(() => {
        asked.push(name)
        return answer
      })
    const second = asks('second', false)
    const error = await refusalOf({}, asks('first', true), second, asks('third', false))
    expect(asked).toEqual(['first', 'second'])
    expect(error.cause).toBe(second)
  })

  test('a scope that is lacking is named in the challenge', async () => {
    const error = await refusalOf({ scope: 'read' }, scope('read locations:write'))
    expect(error).toMatchObject({ code: 'insufficient_scope', reason: 'scope', status: 403 })
    expect(error.headers).toEqual({
      'WWW-Authenticate':
        'Bearer realm="api", error="insufficient_scope", ' +
        'error_description="The access token lacks a required scope", ' +
        'scope="read locations:write"',
      'Cache-Control': 'no-store',
    })
  })

  test('a claim that is lacking is not named, nor its value', async () => {
    const error = await refusalOf({ role: 'user' }, claim('role', 'CANARY'))
    expect(error).toMatchObject({ code: 'insufficient_scope', reason: 'claim', status: 403 })
    expect(error.headers).toEqual({
      'WWW-Authenticate':
        'Bearer realm="api", error="insufficient_scope", ' +
        'error_description="The access token lacks a required claim value"',
      'Cache-Control': 'no-store',
    })
  })

  test('a requirement of the application is treated like ours', async () => {
    const wanted: Requirement = {
      reason: 'scope',
      description: 'a paid plan',
      scope: 'paid',
      isMetBy: async ({ claims }) => await Promise.resolve(claims['plan'] === 'paid'),
    }
    await expect(checkRequirements(authWith({ plan: 'paid' }), [wanted])).resolves.toBeUndefined()
    const error = await refusalOf({ plan: 'free' }, wanted)
    expect(error.headers['WWW-Authenticate']).toContain('scope="paid"')
  })
})

describe('anyScope', () => {
  test.each<[string, Claims, boolean]>([
    ['the first', { scope: 'read' }, true],
    ['the last', { scp: ['write', 'admin'] }, true],
    ['all', { scope: 'read write' }, true],
    ['none', { scope: 'admin' }, false],
    ['none at all', {}, false],
    ['one that only begins alike', { scope: 'reader' }, false],
  ])('%s: %j is met: %s', async (_title, claims, met) => {
    expect(await isMet(anyScope('read write'), claims)).toBe(met)
  })

  test('says that one of the list will do', () => {
    expect(anyScope('read write').description).toBe('any scope of read write')
  })

  test('its refusal names the whole list', async () => {
    const error = await refusalOf({}, anyScope('read write'))
    expect(error).toMatchObject({ code: 'insufficient_scope', reason: 'scope', status: 403 })
    expect(error.headers['WWW-Authenticate']).toContain('scope="read write"')
  })

  test.each(['', ' read', 'read  write', 'a"b'])('the list %j is a TypeError', (scopes) => {
    expect(() => anyScope(scopes)).toThrow(/^anyScope: /)
  })
})

describe('all', () => {
  const both = all(scope('read'), claim('role', 'admin'))

  test('wants every part', async () => {
    expect(await isMet(both, { scope: 'read', role: 'admin' })).toBe(true)
    expect(await isMet(both, { scope: 'read' })).toBe(false)
    expect(await isMet(both, { role: 'admin' })).toBe(false)
  })

  test('the part that is not met refuses for itself', async () => {
    const lacksScope = await refusalOf({ role: 'admin' }, both)
    expect(lacksScope).toMatchObject({ reason: 'scope', cause: { description: 'scope read' } })
    expect(lacksScope.headers['WWW-Authenticate']).toContain('scope="read"')
    const lacksRole = await refusalOf({ scope: 'read' }, both)
    expect(lacksRole).toMatchObject({ reason: 'claim', cause: { description: 'claim role' } })
  })

  test('may be nested', async () => {
    const error = await refusalOf({ scope: 'read', role: 'admin' }, all(both, all(check(isAda))))
    expect(error).toMatchObject({ reason: 'check', cause: { description: 'check isAda' } })
  })
})

describe('any', () => {
  const either = any(scope('admin'), check(isAda))

  test('wants one part', async () => {
    expect(await isMet(either, { scope: 'admin' })).toBe(true)
    expect(await isMet(either, { sub: 'ada' })).toBe(true)
    expect(await isMet(either, { sub: 'eve' })).toBe(false)
  })

  test('asks in order, and no further than it must', async () => {
    const asked: string[] = []
    const named = (name: string, answer: boolean) =>
      check(() => {
        asked.push(name)
        return answer
      })
    expect(await isMet(any(named('a', false), named('b', true), named('c', true)), {})).toBe(true)
    expect(asked).toEqual(['a', 'b'])
  })

  test('its refusal has the reason that its parts share, else check, and every scope among them', async () => {
    expect(await refusalOf({}, any(scope('a'), scope('b')))).toMatchObject({ reason: 'scope' })
    const mixed = await refusalOf({}, any(scope('a'), claim('role', 'b'), scope('c')))
    expect(mixed).toMatchObject({
      reason: 'check',
      cause: { description: 'any of (scope a, claim role, scope c)' },
    })
    expect(mixed.headers['WWW-Authenticate']).toContain('scope="a c"')
    const repeated = await refusalOf({}, any(scope('a'), scope('a b b'), anyScope('b a')))
    expect(repeated.headers['WWW-Authenticate']).toContain('scope="a b"')
    const without = await refusalOf({}, any(check(isAda)))
    expect(without.headers['WWW-Authenticate']).not.toContain('scope=')
  })

  test('a part that answers anything but true is not met', async () => {
    const careless = check(() => 'yes' as unknown as boolean)
    expect(await isMet(any(careless, careless), {})).toBe(false)
  })

  test('a part that throws is a fault, not a refusal', async () => {
    const faulty = check(() => {
      throw new Error('a fault')
    })
    await expect(isMet(any(faulty, scope('a')), { scope: 'a' })).rejects.toThrow('a fault')
  })

  test('holds whole combinations', async () => {
    const requirement = any(all(scope('a'), scope('b')), scope('c'))
    expect(await isMet(requirement, { scope: 'a' })).toBe(false)
    expect(await isMet(requirement, { scope: 'a b' })).toBe(true)
    expect(await isMet(requirement, { scope: 'c' })).toBe(true)
  })
})

test.each([
  ['a text', 'read'],
  ['a list', [scope('read')]],
  ['nothing', undefined],
  ['a function', scope],
])('%s is no requirement: TypeError at start-up', (_title, wrong) => {
  const given = [scope('a'), wrong as unknown as Requirement]
  expect(() => checkRequirementList('authorize', given)).toThrow(
    new TypeError("authorize: each argument must be a requirement, as in authorize(scope('read'))"),
  )
  expect(() => any(...given)).toThrow(
    new TypeError("any: each argument must be a requirement, as in any(scope('read'))"),
  )
})

test.each([
  ['all', all],
  ['any', any],
])('%s of nothing is a TypeError: it would let everybody in, or nobody', (word, combine) => {
  expect(() => combine()).toThrow(`${word}: there must be at least one requirement`)
})

test.each(['', ' ', 'a\r\nSet-Cookie: b', 'a"b', 'é', ['read'] as unknown as string])(
  'a requirement of your own whose scope no header can carry, such as %j: TypeError',
  (scopes) => {
    const own: Requirement = {
      reason: 'scope',
      description: '',
      scope: scopes,
      isMetBy: () => false,
    }
    expect(() => {
      checkRequirementList('authorize', [own])
    }).toThrow('authorize: the scope of a requirement must be a list of scopes')
  },
)

describe('a requirement that is made or written wrongly', () => {
  test.each<{ name: string; make: () => void }>([
    { name: "scope('a', 'b')", make: () => void Reflect.apply(scope, undefined, ['a', 'b']) },
    { name: "anyScope('a', 'b')", make: () => void Reflect.apply(anyScope, undefined, ['a', 'b']) },
    {
      name: "claim('role', 'a', 'b')",
      make: () => void Reflect.apply(claim, undefined, ['role', 'a', 'b']),
    },
    {
      name: 'check(verifier, f, g)',
      make: () => void Reflect.apply(check, undefined, [{ verify: isAda }, isAda, isAda]),
    },
    { name: "['a', 'b'].map(scope)", make: () => void ['a', 'b'].map(scope) },
  ])('$name is a TypeError: no argument is ignored', ({ make }) => {
    expect(make).toThrow(TypeError)
    expect(make).toThrow(/^(scope|anyScope|claim|check): takes (one argument|2 arguments); combine/)
  })

  const own = { reason: 'check', description: 'own', isMetBy: () => true }

  test.each([
    { name: 'a list', given: [scope('a')] },
    { name: 'a factory', given: scope },
    { name: 'a text', given: 'a' },
    { name: 'no reason', given: { ...own, reason: undefined } },
    { name: 'another reason', given: { ...own, reason: 'expired' } },
    { name: 'parts that are none', given: { ...own, parts: ['a'] } },
    { name: 'parts that are no list', given: { ...own, parts: { length: 1 } } },
    { name: 'no parts', given: { ...own, parts: [] } },
    { name: 'parts with a wrong scope', given: { ...own, parts: [{ ...own, scope: 'a  b' }] } },
  ])('$name in the place of one is a TypeError', ({ given }) => {
    for (const make of [all, any]) {
      expect(() => make(given as unknown as Requirement)).toThrow(TypeError)
    }
  })

  test('one of the own making is as good, with parts or as an instance of a class', async () => {
    class Named implements Requirement {
      readonly reason = 'check'
      readonly description = 'named'
      isMetBy(auth: Auth): boolean {
        return isAda(auth)
      }
    }
    const grouped: Requirement = { ...own, reason: 'check', parts: [new Named(), scope('read')] }
    const requirement = all(grouped)
    await expect(
      checkRequirements(authWith({ sub: 'ada', scope: 'read' }), [requirement]),
    ).resolves.toBeUndefined()
    await expect(refusalOf({ sub: 'ada' }, requirement)).resolves.toMatchObject({ reason: 'scope' })
    await expect(refusalOf({ scope: 'read' }, requirement)).resolves.toMatchObject({
      reason: 'check',
    })
  })
})

test('inherited members of a requirement replace nothing: neither its parts nor its scope', async () => {
  const refuses = { reason: 'check', description: 'refuses', isMetBy: () => false }
  const polluted = { parts: [], scope: 'polluted' }
  const requirement = Object.assign(Object.create(polluted) as object, refuses) as Requirement
  const error = await refusalOf({}, requirement)
  expect(error).toMatchObject({ reason: 'check', status: 403 })
  expect(error.headers['WWW-Authenticate']).not.toContain('polluted')
})
