import { localRevocations, type Schema } from '@portcullis/core'
import { describe, expect, test } from 'vitest'

import { introspected, type IntrospectedOptions } from '../src/index.ts'
import { claimsWith, held, refusalOf, settle, setUp, START, wordOf } from './issuer.ts'

// What is held and what is asked: the sequences that could make a wrong use of either.

const down = () => new Response('', { status: 500 })
const html = () => new Response('<html>', { headers: { 'content-type': 'text/html' } })

describe('an answer that has just come', () => {
  test('is judged by its exp as a JWT is, if that has passed meanwhile', async () => {
    const { clock, issuer, verifier, create } = setUp()
    const strict = create({ clockTolerance: 0 })
    const after = async (seconds: number, exp: number) => {
      await clock.advance(seconds)
      return Response.json({ active: true, ...claimsWith({ exp }) })
    }
    issuer.answer = async () => await after(2, START + 1)
    expect(await wordOf(verifier.verify('token'))).toBe('accepted')
    issuer.answer = async () => await after(2, START + 3)
    expect(await wordOf(strict.verify('token'))).toBe('invalid_token expired')
  })

  test('the same with functions of the user, which take no further calls', async () => {
    const { clock, issuer, create } = setUp()
    const verifier = create({ revocations: localRevocations({ clock }) })
    issuer.answer = async () => {
      await clock.advance(2)
      return Response.json({ active: true, ...claimsWith({ iat: START, exp: START + 1 }) })
    }
    expect(await wordOf(verifier.verify('token'))).toBe('accepted')
    expect(issuer.asked).toHaveLength(1)
  })

  test('after a suspension is too old at maxAge, also where staleIfError is longer', async () => {
    const { clock, issuer, verifier } = setUp({ maxAge: 30, staleIfError: 600 })
    issuer.answer = () => {
      clock.set(clock.now() + 30)
      return Response.json({ active: true, ...claimsWith() })
    }
    const error = await refusalOf(verifier.verify('token'))
    expect(error).toMatchObject({ code: 'introspection_unavailable', reason: 'timeout' })
    expect(error.detail).toContain('suspended')
  })
})

/** A token whose answer is due: renewals begin between the half and nine tenths of 30 s. */
async function withDue(options: Partial<IntrospectedOptions> = {}, ...tokens: string[]) {
  const set = setUp({ maxAge: 30, ...options })
  for (const token of ['token', ...tokens]) {
    set.issuer.tokens.set(token, claimsWith())
    await set.verifier.verify(token)
  }
  await set.clock.advance(27)
  const { answer } = set.issuer
  const asked = () => set.issuer.asked.slice(1 + tokens.length).map(({ token }) => token)
  return { ...set, answer, asked }
}

describe('a renewal', () => {
  test('begins behind a request that presents the token, which does not wait for it', async () => {
    const { clock, issuer, verifier, answer, asked } = await withDue()
    const late = held<boolean>()
    issuer.answer = async (token) => {
      await late.promise
      return await answer(token)
    }
    for (let use = 0; use < 100; use++)
      expect(await wordOf(verifier.verify('token'))).toBe('accepted')
    expect(asked()).toEqual(['token'])
    late.resolve(true)
    await settle()
    // From the moment of the question on, this answer has all of maxAge.
    await clock.advance(14.9)
    for (let use = 0; use < 2; use++) await verifier.verify('token')
    expect(asked()).toEqual(['token'])
  })

  test('is never made of a token that nobody uses', async () => {
    const { clock, asked } = await withDue()
    await clock.advance(3600)
    expect(asked()).toEqual([])
  })

  test('that says that the token is not active takes effect at once', async () => {
    const { issuer, verifier } = await withDue()
    issuer.tokens.delete('token')
    expect(await wordOf(verifier.verify('token'))).toBe('accepted')
    await settle()
    expect(await wordOf(verifier.verify('token'))).toBe('invalid_token inactive')
  })

  test('that fails leaves the answer its maxAge, no longer, and is repeated after a pause', async () => {
    const { clock, issuer, verifier, asked } = await withDue()
    issuer.answer = html
    for (const seconds of [0.5, 1, 1.4]) {
      for (let use = 0; use < 9; use++) {
        expect(await wordOf(verifier.verify('token'))).toBe('accepted')
        await settle()
      }
      await clock.advance(seconds)
    }
    expect(asked()).toEqual(['token', 'token'])
    await clock.advance(0.1)
    expect(await wordOf(verifier.verify('token'))).toBe('introspection_unavailable bad_answer')
    expect(asked()).toEqual(['token', 'token'])
  })

  test('that hangs leaves the answer its maxAge; then callers wait for that very call', async () => {
    const { clock, issuer, verifier, asked } = await withDue()
    const late = held<Response>()
    issuer.answer = async () => await late.promise
    await verifier.verify('token')
    await clock.advance(3)
    const words = [1, 2].map(async () => await wordOf(verifier.verify('token')))
    await settle()
    late.resolve(Response.json({ active: false }))
    expect(await Promise.all(words)).toEqual(['invalid_token inactive', 'invalid_token inactive'])
    expect(asked()).toEqual(['token'])
  })

  test('finds its room, however many calls for new tokens hang', async () => {
    const { clock, issuer, verifier, answer, asked } = await withDue({ maxCalls: 1 })
    issuer.answer = async (token) =>
      token === 'token' ? await answer(token) : await new Promise<Response>(() => {})
    const others = ['one', 'two'].map(async (token) => await wordOf(verifier.verify(token)))
    await clock.advance(1)
    await verifier.verify('token')
    await settle()
    expect(asked()).toContain('token')
    await clock.advance(10)
    await Promise.all(others)
  })

  test('begins only where there is room: beyond maxRenewals the next request tries again', async () => {
    const { issuer, verifier, asked } = await withDue({ maxRenewals: 1 }, 'other')
    const late = held<Response>()
    issuer.answer = async () => await late.promise
    for (const token of ['token', 'other']) await verifier.verify(token)
    await settle()
    expect(asked()).toEqual(['token'])
    late.resolve(Response.json({ active: true, ...claimsWith() }))
    await settle()
    await verifier.verify('other')
    await settle()
    expect(asked()).toEqual(['token', 'other'])
  })

  test('does not begin while the endpoint has asked for a pause', async () => {
    const { clock, issuer, verifier, asked } = await withDue({}, 'other')
    issuer.answer = () => new Response('', { status: 429, headers: { 'retry-after': '2' } })
    await verifier.verify('token')
    await settle()
    for (const token of ['token', 'other']) await verifier.verify(token)
    await clock.advance(1.9)
    await verifier.verify('other')
    expect(asked()).toEqual(['token'])
  })
})

/** Calls about a token that is due, which begin `before` or for the sake of five invented ones, and bring nothing meanwhile. */
async function withInvented(before: (verify: () => Promise<unknown>) => Promise<unknown>) {
  const { clock, issuer, verifier, asked } = await withDue()
  const late = held<Response>()
  issuer.answer = async (token) => (token === 'token' ? await late.promise : html())
  await before(async () => await verifier.verify('token'))
  for (let each = 0; each < 5; each++) await wordOf(verifier.verify(`invented-${each}`))
  await settle()
  await verifier.verify('token')
  await settle()
  const calls = asked().filter((token) => token === 'token')
  late.resolve(Response.json({ active: true, ...claimsWith() }))
  await clock.advance(1)
  return calls
}

describe('a token that was good, while five invented ones fail', () => {
  test('is asked about for them, and not once more behind a request', async () => {
    expect(await withInvented(async () => {})).toEqual(['token'])
  })

  test('is not asked about for them if it is asked about already', async () => {
    expect(await withInvented(async (verify) => await verify())).toEqual(['token'])
  })
})

/** @param during Each run of the schema waits for one of them, if there is one left. */
function withSchema(options: Partial<IntrospectedOptions>, during: (() => Promise<void>)[]) {
  const { clock, issuer, usual } = setUp()
  const schema: Schema<object> = {
    '~standard': {
      version: 1,
      async validate(value) {
        await during.shift()?.()
        return { value: value as object } // claims are
      },
    },
  }
  issuer.tokens.set('token', claimsWith({ exp: START + 3 }))
  const verifier = introspected({ ...usual, clockTolerance: 60, ...options, schema })
  return { clock, issuer, verifier }
}

describe('while a schema takes its time', () => {
  test('the answer that its token is not active counts at once', async () => {
    const words: string[] = []
    const { clock, issuer, verifier } = withSchema({}, [
      async () => {
        await clock.advance(3)
        issuer.tokens.clear()
        words.push(await wordOf(verifier.verify('token')))
      },
    ])
    words.push(await wordOf(verifier.verify('token')))
    expect(words).toEqual(['invalid_token inactive', 'invalid_token inactive'])
    expect(issuer.asked).toHaveLength(2)
  })

  test('a later answer takes the place of the one before', async () => {
    const { clock, issuer, verifier } = withSchema({}, [
      async () => {
        await clock.advance(3)
        issuer.tokens.set('token', claimsWith({ sub: 'eve' }))
        await verifier.verify('token')
      },
    ])
    expect((await verifier.verify('token')).claims).toMatchObject({ sub: 'eve' })
    expect(issuer.asked).toHaveLength(2)
  })

  test('an answer that others have pushed out still counts', async () => {
    const { issuer, verifier } = withSchema({ remember: { max: 1 } }, [
      async () => {
        issuer.tokens.set('other', claimsWith())
        await verifier.verify('other')
      },
    ])
    expect(await wordOf(verifier.verify('token'))).toBe('accepted')
    expect(issuer.asked.map(({ token }) => token)).toEqual(['token', 'other'])
  })

  test.each([
    [60, 'accepted', 1],
    [0, 'introspection_unavailable timeout', 3],
  ])('an answer grows too old: with staleIfError %i %s', async (staleIfError, word, calls) => {
    const wait = async () => {
      await clock.advance(10)
    }
    const { clock, issuer, verifier } = withSchema({ maxAge: 10, staleIfError }, [wait, wait, wait])
    issuer.tokens.set('token', claimsWith())
    expect(await wordOf(verifier.verify('token'))).toBe(word)
    expect(issuer.asked).toHaveLength(calls)
  })
})

describe('a token that was said to be not active', () => {
  test('is not revived by an outage behind that, whatever was held before', async () => {
    const { clock, issuer, verifier } = setUp({ maxAge: 10, staleIfError: 600 })
    issuer.tokens.set('token', claimsWith())
    await verifier.verify('token')
    issuer.tokens.delete('token')
    await clock.advance(10)
    expect(await wordOf(verifier.verify('token'))).toBe('invalid_token inactive')
    issuer.answer = down
    await clock.advance(6)
    for (let use = 0; use < 2; use++) {
      expect(await wordOf(verifier.verify('token'))).toBe('introspection_unavailable unreachable')
    }
  })
})

describe('a failure of long ago', () => {
  test('keeps no answer alive: the endpoint is asked, and whoever asks waits for it', async () => {
    const { clock, issuer, verifier } = setUp({ maxAge: 30, staleIfError: 600 })
    issuer.tokens.set('one', claimsWith())
    issuer.tokens.set('two', claimsWith())
    await verifier.verify('one')
    await clock.advance(31)
    const { answer } = issuer
    issuer.answer = down
    expect(await wordOf(verifier.verify('one'))).toBe('accepted')
    issuer.answer = answer
    await clock.advance(3600)
    await verifier.verify('two')
    issuer.tokens.delete('two')
    await clock.advance(500)
    expect(await wordOf(verifier.verify('two'))).toBe('invalid_token inactive')
  })
})

describe('bad answers about one token', () => {
  test('cost one call and then a pause that grows, however often it is used', async () => {
    const { clock, issuer, verifier } = setUp({ maxAge: 10 })
    issuer.tokens.set('token', claimsWith())
    await verifier.verify('token')
    await clock.advance(10)
    issuer.answer = html
    for (let use = 0; use < 1000; use++) await wordOf(verifier.verify('token'))
    expect(issuer.asked).toHaveLength(2)
    const error = await refusalOf(verifier.verify('token'))
    expect(error).toMatchObject({ code: 'introspection_unavailable', reason: 'bad_answer' })
    expect(error.detail).toMatch(/not application\/json$/)
    for (let second = 0; second < 120; second++) {
      await clock.advance(1)
      await wordOf(verifier.verify('token'))
    }
    // After 1, 2, 4, 8 and 16 seconds, then each 30.
    expect(issuer.asked.length).toBeGreaterThanOrEqual(8)
    expect(issuer.asked.length).toBeLessThanOrEqual(11)
  })

  test('are forgotten with the next good one', async () => {
    const { clock, issuer, verifier } = setUp({ maxAge: 1 })
    const { answer } = issuer
    issuer.answer = html
    await wordOf(verifier.verify('token'))
    await clock.advance(1.3)
    await wordOf(verifier.verify('token'))
    for (const claims of [claimsWith(), undefined]) {
      issuer.answer = answer
      if (claims === undefined) issuer.tokens.delete('token')
      else issuer.tokens.set('token', claims)
      await clock.advance(3)
      await wordOf(verifier.verify('token'))
      issuer.answer = html
      await clock.advance(3)
      await wordOf(verifier.verify('token'))
      const before = issuer.asked.length
      await clock.advance(1.3)
      await wordOf(verifier.verify('token'))
      expect(issuer.asked).toHaveLength(before + 1)
    }
  })

  test('with staleIfError do not leave it in use: they are no outage', async () => {
    const { clock, issuer, verifier } = setUp({ maxAge: 10, staleIfError: 60 })
    issuer.tokens.set('token', claimsWith())
    await verifier.verify('token')
    await clock.advance(10)
    issuer.answer = html
    for (let use = 0; use < 10; use++) {
      const verdict = await wordOf(verifier.verify('token'))
      expect(verdict).toBe('introspection_unavailable bad_answer')
    }
    expect(issuer.asked).toHaveLength(2)
  })

  test.each([
    ['nothing else is asked about', false, 'accepted'],
    ['another token gets an answer', true, 'introspection_unavailable unreachable'],
  ])(
    'with staleIfError a token whose calls get no answer, while %s',
    async (_title, isOther, word) => {
      const { clock, issuer, verifier } = setUp({ maxAge: 10, staleIfError: 60 })
      for (const token of ['token', 'other']) {
        issuer.tokens.set(token, claimsWith())
        await verifier.verify(token)
      }
      await clock.advance(10)
      const { answer } = issuer
      issuer.answer = () => new Response('', { status: 500 })
      expect(await wordOf(verifier.verify('token'))).toBe('accepted')
      issuer.answer = answer
      if (isOther) await verifier.verify('other')
      expect(await wordOf(verifier.verify('token'))).toBe(word)
    },
  )

  test('with staleIfError: a call that hangs keeps nobody waiting but the first', async () => {
    const { clock, issuer, verifier } = setUp({ maxAge: 10, staleIfError: 60 })
    issuer.tokens.set('token', claimsWith())
    await verifier.verify('token')
    await clock.advance(10)
    issuer.answer = async () => await new Promise<Response>(() => {})
    const first = wordOf(verifier.verify('token'))
    await clock.advance(5)
    expect(await first).toBe('accepted')
    for (let second = 15; second < 60; second++) {
      expect(await wordOf(verifier.verify('token'))).toBe('accepted')
      await clock.advance(1)
    }
    expect(issuer.asked.length).toBeLessThan(15)
  })

  test('of many tokens are remembered of the last ones only', async () => {
    const { issuer, verifier } = setUp({ remember: { max: 2 }, maxRate: 1000 })
    issuer.answer = html
    for (const token of ['one', 'two', 'three', 'one']) await wordOf(verifier.verify(token))
    expect(issuer.asked).toHaveLength(4)
    await wordOf(verifier.verify('three'))
    expect(issuer.asked).toHaveLength(4)
  })
})

test('a call for a token stays the only one, also if its earlier answer was pushed out', async () => {
  const { clock, issuer, verifier } = setUp({ maxAge: 10, remember: { max: 1 } })
  for (const token of ['token', 'other']) issuer.tokens.set(token, claimsWith())
  await verifier.verify('token')
  await clock.advance(10)
  const { answer } = issuer
  const late = held<boolean>()
  issuer.answer = async (token) => {
    if (token === 'token') await late.promise
    return await answer(token)
  }
  const first = wordOf(verifier.verify('token'))
  await settle()
  await verifier.verify('other')
  const second = wordOf(verifier.verify('token'))
  await settle()
  late.resolve(true)
  expect([await first, await second]).toEqual(['accepted', 'accepted'])
  expect(issuer.asked.map(({ token }) => token)).toEqual(['token', 'token', 'other'])
})

test('a call takes no longer than its answer may be used', async () => {
  const { clock, issuer, verifier } = setUp({ maxAge: 1, timeout: 5 })
  issuer.answer = async () => await new Promise<Response>(() => {})
  const error = refusalOf(verifier.verify('token'))
  await clock.advance(1)
  expect(await error).toMatchObject({ code: 'introspection_unavailable', reason: 'timeout' })
  expect((await error).detail).toMatch(/^the introspection endpoint: /)
})

describe('a flood of invented tokens', () => {
  test('that fills the room where they wait leaves room for those that were active before', async () => {
    const { clock, issuer, verifier } = setUp({ maxAge: 10, maxTokenSize: 65_536 })
    issuer.tokens.set('token', claimsWith())
    await verifier.verify('token')
    await clock.advance(10)
    const { answer } = issuer
    issuer.answer = async (token) =>
      token === 'token' ? await answer(token) : await new Promise<Response>(() => {})
    const text = 'a'.repeat(60_000)
    // The short ones fill what is left behind the long ones.
    const flood = Array.from({ length: 450 }, async (_, index) => {
      const { detail } = await refusalOf(verifier.verify(`${index < 400 ? text : ''}${index}`))
      return detail
    })
    await settle()
    expect(await wordOf(verifier.verify('token'))).toBe('accepted')
    await clock.advance(5)
    const details = await Promise.all(flood)
    expect(details[0]).toContain('no answer in 5 s')
    expect(details.at(-1)).toBe('too many requests wait until their token is looked up')
  })
})

describe('a pause that the endpoint asks for', () => {
  test('is not ended by the answer of a call that had begun before', async () => {
    const { clock, issuer, verifier } = setUp()
    const late = async () => {
      await new Promise<void>((resolve) => {
        clock.after(2, resolve)
      })
      return Response.json({ active: true, ...claimsWith() })
    }
    issuer.answer = async (token) =>
      token === 'late'
        ? await late()
        : new Response('', { status: 429, headers: { 'retry-after': '20' } })
    const first = wordOf(verifier.verify('late'))
    expect(await wordOf(verifier.verify('one'))).toBe('introspection_unavailable unreachable')
    await clock.advance(2)
    expect(await first).toBe('accepted')
    const error = await refusalOf(verifier.verify('two'))
    expect(error.detail).toMatch(/answered 429$/)
    expect(error.numbers).toEqual({ nextCallIn: 18 })
    expect(issuer.asked).toHaveLength(2)
  })
})
