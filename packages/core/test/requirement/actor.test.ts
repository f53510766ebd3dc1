import { describe, expect, test } from 'vitest'

import { actor, type Auth, type Claims, delegationOf } from '../../src/index.ts'

const ISSUER = 'https://issuer.test'
const AGENTS = 'https://agents.test'

function authWith(claims: unknown): Auth {
  return { claims: claims as Claims, header: { alg: 'RS512' }, token: 'a.b.c' }
}

/** A chain of this many actors, `agent-0` outermost. */
function chainOf(length: number): object {
  const place = (index: number): object =>
    index === length ? {} : { act: { sub: `agent-${index}`, ...place(index + 1) } }
  return { iss: ISSUER, ...place(0) }
}

describe('actor', () => {
  test.each<[title: string, claims: unknown, isMet: boolean]>([
    ['the party that acts', { act: { sub: 'agent-7' } }, true],
    ['of the same issuer, which is stated', { act: { sub: 'agent-7', iss: ISSUER } }, true],
    ['with further members', { act: { sub: 'agent-7', client_id: 'c', act: { sub: 'x' } } }, true],
    ['another party', { act: { sub: 'agent-8' } }, false],
    ['the party that acted before', { act: { sub: 'agent-8', act: { sub: 'agent-7' } } }, false],
    ['the party before one without a name', { act: { act: { sub: 'agent-7' } } }, false],
    ['the subject itself', { sub: 'agent-7' }, false],
    ['who may become an actor', { may_act: { sub: 'agent-7' } }, false],
    ['who may become one, beside another', { may_act: { sub: 'agent-7' }, act: {} }, false],
    ['the same name of another issuer', { act: { sub: 'agent-7', iss: AGENTS } }, false],
    ['an issuer that is null', { act: { sub: 'agent-7', iss: null } }, false],
    ['an issuer in a list', { act: { sub: 'agent-7', iss: [ISSUER] } }, false],
    ['a subject in a list', { act: { sub: ['agent-7'] } }, false],
    ['a text for an actor', { act: 'agent-7' }, false],
    ['a list of actors', { act: [{ sub: 'agent-7' }] }, false],
    ['no actor', { act: null }, false],
    ['an inherited actor', Object.create({ act: { sub: 'agent-7' } }), false],
    ['an inherited subject', { act: Object.create({ sub: 'agent-7' }) as object }, false],
    ['no claims', undefined, false],
  ])('%s: %#', async (_, claims, isMet) => {
    const full =
      typeof claims === 'object' ? Object.assign(claims as object, { iss: ISSUER }) : claims
    expect(await actor('agent-7').isMetBy(authWith(full))).toBe(isMet)
  })

  test.each<[title: string, claims: object, isMet: boolean]>([
    ['stated for the actor', { iss: ISSUER, act: { sub: 'agent-7', iss: AGENTS } }, true],
    [
      'the issuer of the token, which names the actor',
      { iss: AGENTS, act: { sub: 'agent-7' } },
      true,
    ],
    ['not stated for the actor of another issuer', { iss: ISSUER, act: { sub: 'agent-7' } }, false],
    ['of the token alone', { iss: AGENTS, act: { sub: 'agent-7', iss: ISSUER } }, false],
    ['stated nowhere', { act: { sub: 'agent-7' } }, false],
    ['a number', { iss: AGENTS, act: { sub: 'agent-7', iss: 1 } }, false],
  ])('of another issuer, which is %s: %#', async (_, claims, isMet) => {
    expect(await actor('agent-7', { issuer: AGENTS }).isMetBy(authWith(claims))).toBe(isMet)
  })

  test('an answer of an authorization server without an issuer names its own actors', async () => {
    expect(await actor('agent-7').isMetBy(authWith({ act: { sub: 'agent-7' } }))).toBe(true)
  })

  test('one of several will do', async () => {
    const requirement = actor(['agent-7', 'agent-0'])
    expect(await requirement.isMetBy(authWith(chainOf(2)))).toBe(true)
    expect(requirement).toMatchObject({ reason: 'claim', description: 'actor agent-7 or agent-0' })
  })

  test.each<[claims: object, detail: string]>([
    [{}, 'nobody acts for the subject (act); the route requires actor agent-7'],
    [{ act: {} }, 'another party acts for the subject; the route requires actor agent-7'],
    [
      chainOf(3),
      'another party acts for the subject, through 2 more; the route requires actor agent-7',
    ],
  ])('says what is missing, and no name of a token: %#', (claims, detail) => {
    expect(actor('agent-7').explain?.(authWith(claims))()).toBe(detail)
  })

  test.each([[undefined], [''], [[]], [['a', '']], [7], [null]])(
    '%j is a TypeError',
    (subjects) => {
      expect(() => actor(subjects as unknown as string)).toThrow(
        'actor: the subjects must be a list',
      )
    },
  )

  test.each([{ issuer: '' }, { iss: ISSUER }, { issuer: [ISSUER] }])(
    'the options %j are a TypeError',
    (options) => {
      expect(() => actor('agent-7', options as object)).toThrow('actor: ')
    },
  )
})

describe('delegationOf', () => {
  test.each<[title: string, claims: unknown, actors: readonly unknown[]]>([
    ['a token that its subject uses', { sub: 'user', may_act: { sub: 'a' } }, []],
    ['no claims', undefined, []],
    [
      'a chain, the present actor first',
      { act: { sub: 'b', iss: AGENTS, act: { sub: 'a', email: 'a@a.test' } } },
      [
        { sub: 'b', iss: AGENTS },
        { sub: 'a', iss: undefined },
      ],
    ],
    [
      'an actor without a name',
      { act: { sub: 7, iss: null } },
      [{ sub: undefined, iss: undefined }],
    ],
    ['what is no actor, but not nobody', { act: 'a' }, [{ sub: undefined, iss: undefined }]],
  ])('%s', (_, claims, actors) => {
    expect(delegationOf(authWith(claims))).toEqual(actors)
  })

  test('eight actors of a longer chain', () => {
    const subjects = delegationOf(authWith(chainOf(1000))).map(({ sub }) => sub)
    expect(subjects).toEqual(Array.from({ length: 8 }, (_, index) => `agent-${index}`))
  })

  test('what no verifier has returned is a TypeError', () => {
    expect(() => delegationOf(undefined as unknown as Auth)).toThrow(
      'delegationOf: the Auth must be',
    )
  })
})
