import { createVerifier } from '@portcullis/core'
import { describe, expect, test } from 'vitest'

import { manualClock } from '../../src/clock.ts'
import { createTestIssuer } from '../../src/issuer.ts'
import type { OutageKind } from '../../src/service/misbehaviours.ts'
import { tokenService } from '../../src/token-service.ts'

const clock = manualClock()
/** Most tests share it: each ends the outages that it begins. */
const issuer = await createTestIssuer({ clock })
const service = tokenService(issuer)

function logIn(): RequestInit {
  return { method: 'POST', body: new URLSearchParams({ loginId: 'demo', password: 'demo' }) }
}

/** Both endpoints, in the process and over a socket. */
const ways = [
  {
    way: 'in the process',
    start: async () =>
      await Promise.resolve({ ...service, [Symbol.asyncDispose]: Promise.resolve.bind(Promise) }),
  },
  {
    way: 'over a socket',
    start: async () => ({ ...(await service.listen()), fetch: globalThis.fetch }),
  },
]

const settled = async (outcome: Promise<unknown>) =>
  await outcome.then(
    () => 'answered',
    (error: unknown) => error,
  )

describe.each(ways)('$way', ({ start }) => {
  async function setUp() {
    const started = await start()
    const { authUrl, keyUrl, fetch } = started
    const tokenUrl = `${authUrl}/tokenservice/token/api`
    const askBoth = async () => await Promise.all([fetch(keyUrl), fetch(tokenUrl, logIn())])
    return { ...started, tokenUrl, askBoth }
  }

  test.each([200, 204, 302, 404, 429, 500, 503, 599])('%i: a status and no body', async (kind) => {
    await using at = await setUp()
    const outage = issuer.outage(kind)
    const redirect = 'manual'
    const answers = [
      await at.fetch(at.keyUrl, { redirect }),
      await at.fetch(at.tokenUrl, { ...logIn(), redirect }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([kind, kind])
    expect(await Promise.all(answers.map(async (answer) => await answer.text()))).toEqual(['', ''])
    outage.restore()
    expect((await at.askBoth()).map(({ status }) => status)).toEqual([200, 200])
  })

  test('html: a page where JSON or a token should be', async () => {
    await using at = await setUp()
    const outage = issuer.outage('html')
    for (const answer of await at.askBoth()) {
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html'])
      expect(await answer.text()).toContain('<!doctype html>')
    }
    outage.restore()
  })

  test('empty: status 200 and nothing', async () => {
    await using at = await setUp()
    const outage = issuer.outage('empty')
    for (const answer of await at.askBoth()) {
      expect([answer.status, await answer.text()]).toEqual([200, ''])
    }
    outage.restore()
  })

  test('reset: no answer, as a connection that fails', async () => {
    await using at = await setUp()
    const outage = issuer.outage('reset')
    for (const url of [at.keyUrl, at.tokenUrl]) {
      const failure = await settled(at.fetch(url))
      expect(failure).toBeInstanceOf(TypeError)
      expect(failure).toMatchObject({ message: 'fetch failed', cause: { code: 'ECONNRESET' } })
    }
    outage.restore()
  })

  test('truncated: the first half of the right answer, then a failure', async () => {
    await using at = await setUp()
    const whole = await (await at.fetch(at.keyUrl)).text()
    const outage = issuer.outage('truncated')
    const answer = await at.fetch(at.keyUrl)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json'])
    let read = ''
    const reading = async () => {
      for await (const chunk of answer.body ?? []) read += Buffer.from(chunk).toString()
    }
    expect(await settled(reading())).toBeInstanceOf(TypeError)
    expect(read).toBe(whole.slice(0, Math.ceil(whole.length / 2)))
    const login = await at.fetch(at.tokenUrl, logIn())
    expect(await settled(login.text())).toBeInstanceOf(TypeError)
    const refused = await settled(at.fetch(at.tokenUrl).then(async (it) => await it.text()))
    expect(refused).toBeInstanceOf(TypeError)
    outage.restore()
  })

  test('hang: no answer until the caller gives up', async () => {
    await using at = await setUp()
    const outage = issuer.outage('hang')
    const before = issuer.requests().length
    const controller = new AbortController()
    const { signal } = controller
    const asked = [settled(at.fetch(at.keyUrl, { signal }))]
    asked.push(settled(at.fetch(at.tokenUrl, { ...logIn(), signal })))
    await expect.poll(() => issuer.requests().length).toBe(before + 2)
    await clock.advance(3600)
    outage.restore()
    expect((await at.askBoth()).map(({ status }) => status)).toEqual([200, 200])
    controller.abort(new Error('enough'))
    expect(await Promise.all(asked)).toEqual([new Error('enough'), new Error('enough')])
    expect(
      issuer
        .requests()
        .slice(before, before + 2)
        .map(({ status }) => status),
    ).toEqual([undefined, undefined])
  })

  test('slow: the right answer, after 3 s of the clock', async () => {
    await using at = await setUp()
    const outage = issuer.outage('slow')
    const before = issuer.requests().length
    let answered = false
    const asked = at.fetch(at.keyUrl).then((answer) => {
      answered = true
      return answer
    })
    await expect.poll(() => issuer.requests().length).toBe(before + 1)
    await clock.advance(2.9)
    expect(answered).toBe(false)
    await clock.advance(0.1)
    expect(await (await asked).json()).toEqual(issuer.publicJwk)
    outage.restore()
  })

  test('key-set: the right key in a set, while logins work', async () => {
    await using at = await setUp()
    const outage = issuer.outage('key-set')
    const [keys, login] = await at.askBoth()
    expect(await keys?.json()).toEqual({ keys: [issuer.publicJwk] })
    expect(login?.status).toBe(200)
    outage.restore()
  })

  test('other-key: one that has signed nothing, the same each time', async () => {
    await using at = await setUp()
    const outage = issuer.outage('other-key')
    const [one, two] = [await at.fetch(at.keyUrl), await at.fetch(at.keyUrl)]
    const jwk: unknown = await one.json()
    expect(jwk).toMatchObject({ kty: 'RSA', alg: 'RS512' })
    expect(jwk).not.toMatchObject({ n: issuer.publicJwk.n })
    expect(await two.json()).toEqual(jwk)
    outage.restore()
  })
})

describe('stale-key', () => {
  test('is the document before it last changed', async () => {
    const own = await createTestIssuer({ clock })
    const { fetch, keyUrl } = tokenService(own)
    const old = own.publicJwk
    const rotation = await own.rotate({ publish: 'both' })
    const both = { keys: [old, own.publicJwk] }
    const outage = own.outage('stale-key')
    expect(await (await fetch(keyUrl)).json()).toEqual(old)
    rotation.complete()
    expect(await (await fetch(keyUrl)).json()).toEqual(both)
    outage.restore()
    const set = { keys: [own.publicJwk] }
    expect(await (await fetch(keyUrl)).json()).toEqual(set)
    own.outage('key-set')
    expect(await (await fetch(keyUrl)).json()).toEqual(set)
  })

  test('cannot be had before a rotation', async () => {
    const own = await createTestIssuer({ clock })
    expect(() => own.outage('stale-key')).toThrow(
      new TypeError('outage: no key is stale before the issuer has rotated'),
    )
  })
})

describe('a hang', () => {
  test('ends when the server is closed, and its handler with it', async () => {
    const own = await createTestIssuer({ clock })
    const listening = await tokenService(own).listen()
    own.outage('hang')
    const asked = settled(fetch(listening.keyUrl))
    await expect.poll(() => own.requests().length).toBe(1)
    await listening.close()
    expect(await asked).toBeInstanceOf(TypeError)
  })

  test('does not begin for a caller that has given up before: nothing is seen of it', async () => {
    const own = await createTestIssuer({ clock })
    const { fetch, keyUrl } = tokenService(own)
    own.outage('hang')
    const reason = new Error('enough')
    const signal = AbortSignal.abort(reason)
    expect(await settled(fetch(keyUrl, { signal }))).toBe(reason)
    expect(await settled(fetch(new Request(keyUrl, { signal })))).toBe(reason)
    expect(own.requests()).toEqual([])
  })

  test('ends for a caller that gives up while the login is read', async () => {
    const own = await createTestIssuer({ clock })
    const { fetch, authUrl } = tokenService(own)
    own.outage('hang')
    const controller = new AbortController()
    const { signal } = controller
    const asked = settled(fetch(`${authUrl}/tokenservice/token/api`, { ...logIn(), signal }))
    controller.abort(new Error('enough'))
    expect(await asked).toEqual(new Error('enough'))
  })
})

test('slow: a caller that gives up leaves no timer behind', async () => {
  const timers = new Set<symbol>()
  const after = (seconds: number, fn: () => void) => {
    const timer = Symbol(seconds)
    timers.add(timer)
    const cancel = clock.after(seconds, fn)
    return () => {
      timers.delete(timer)
      cancel()
    }
  }
  const own = await createTestIssuer({ clock: { ...clock, after } })
  const { fetch, keyUrl } = tokenService(own)
  own.outage('slow', { delay: 7 })
  const controller = new AbortController()
  const asked = settled(fetch(keyUrl, { signal: controller.signal }))
  await clock.advance(6)
  expect([...timers].map(({ description }) => description)).toEqual(['7'])
  controller.abort(new Error('enough'))
  expect([await asked, timers.size]).toEqual([new Error('enough'), 0])
})

async function ownIssuer() {
  const own = await createTestIssuer({ clock })
  const { fetch, keyUrl, authUrl } = tokenService(own)
  const keys = async () => (await fetch(keyUrl)).status
  const token = async () => (await fetch(`${authUrl}/tokenservice/token/api`, logIn())).status
  return { own, keys, token }
}

describe('an outage lasts', () => {
  test('for so many answers', async () => {
    const { own, keys, token } = await ownIssuer()
    own.outage(503, { times: 2 })
    expect([await keys(), await token(), await keys(), await token()]).toEqual([503, 503, 200, 200])
  })

  test('for so many answers of one endpoint', async () => {
    const { own, keys, token } = await ownIssuer()
    own.outage(503, { times: 2, endpoint: 'token' })
    expect([await keys(), await token(), await token(), await token()]).toEqual([
      200, 503, 503, 200,
    ])
  })

  test('for so many seconds of the clock', async () => {
    const { own, keys } = await ownIssuer()
    own.outage(503, { seconds: 60 })
    await clock.advance(59)
    expect(await keys()).toBe(503)
    await clock.advance(1)
    expect(await keys()).toBe(200)
  })

  test('until whichever comes first', async () => {
    const { own, keys } = await ownIssuer()
    own.outage(503, { seconds: 60, times: 1 })
    expect([await keys(), await keys()]).toEqual([503, 200])
    own.outage(503, { seconds: 60, times: 9 })
    await clock.advance(60)
    expect(await keys()).toBe(200)
  })

  test('until restore, which may be called again', async () => {
    const { own, keys } = await ownIssuer()
    const outage = own.outage(503)
    await clock.advance(86_400)
    expect(await keys()).toBe(503)
    outage.restore()
    outage.restore()
    expect(await keys()).toBe(200)
  })

  test('while another, that began later, hides it', async () => {
    const { own, keys, token } = await ownIssuer()
    own.outage(503)
    const later = own.outage(404, { endpoint: 'keys' })
    expect([await keys(), await token()]).toEqual([404, 503])
    later.restore()
    expect(await keys()).toBe(503)
  })
})

test('a verifier made of the options sees outages and recovery', async () => {
  const own = await createTestIssuer({ clock })
  const verifier = createVerifier(own.verifierOptions)
  const token = await own.token()
  own.outage(500, { times: 1 })
  await expect(verifier.verify(token)).rejects.toMatchObject({ reason: 'unreachable' })
  await clock.advance(2)
  await expect(verifier.verify(token)).resolves.toMatchObject({ token })
})

test.each<[complaint: string, kind: unknown, options?: object]>([
  ['the kind must be a status from 200 to 599, or one of hang, reset', 'hangs'],
  ['the kind must be', 'toString'],
  ['the kind must be', 199],
  ['the kind must be', 600],
  ['the kind must be', 500.5],
  ['the kind must be', undefined],
  ['times must be a whole number, 1 or more', 'hang', { times: 0 }],
  ['seconds must be a number of seconds, 0 or more', 'hang', { seconds: -1 }],
  ['endpoint must be one of keys, token', 'hang', { endpoint: 'both' }],
  ['endpoint must be one of keys', 'key-set', { endpoint: 'token' }],
  ['delay is for the kind slow', 'hang', { delay: 1 }],
  ['delay must be a number of seconds', 'slow', { delay: Infinity }],
  ['unknown option "time", known are times', 'hang', { time: 1 }],
])('%s: TypeError at the call', async (complaint, kind, options) => {
  // A kind that the type does not allow.
  const begin = () => issuer.outage(kind as OutageKind, options)
  expect(begin).toThrow(TypeError)
  expect(begin).toThrow(`outage: ${complaint}`)
  expect((await service.fetch(service.keyUrl)).status).toBe(200)
})

describe('the outages in force', () => {
  test('are shown with what is left of them, until they are over', async () => {
    const time = manualClock(1000)
    const own = await createTestIssuer({ clock: time, algorithm: 'ES256' })
    const { fetch: ask, keyUrl } = tokenService(own)
    own.outage(503, { times: 2, endpoint: 'keys' })
    await time.advance(5)
    own.outage('slow', { seconds: 10, delay: 0 })
    own.outage('hang', { endpoint: 'token' })
    const view = () =>
      own.outages().map(({ kind, endpoints, since, secondsLeft, timesLeft }) => ({
        kind,
        endpoints,
        since,
        secondsLeft,
        timesLeft,
      }))
    const hang = { kind: 'hang', endpoints: ['token'], since: 1005 }
    const slow = {
      kind: 'slow',
      endpoints: ['keys', 'token', 'introspection', 'metadata'],
      since: 1005,
    }
    const status = { kind: 503, endpoints: ['keys'], since: 1000 }
    const unlimited = { secondsLeft: undefined, timesLeft: undefined }
    await time.advance(4)
    expect(view()).toEqual([
      { ...status, ...unlimited, timesLeft: 2 },
      { ...slow, ...unlimited, secondsLeft: 6 },
      { ...hang, ...unlimited },
    ])
    await time.advance(6)
    await ask(keyUrl)
    expect(view()).toEqual([
      { ...status, ...unlimited, timesLeft: 1 },
      { ...hang, ...unlimited },
    ])
    await ask(keyUrl)
    expect(view()).toEqual([{ ...hang, ...unlimited }])
  })

  test('are what outage() returned, which says at each time what is left of it', async () => {
    const time = manualClock(1000)
    const own = await createTestIssuer({ clock: time, algorithm: 'ES256' })
    const { fetch: ask, keyUrl } = tokenService(own)
    const outage = own.outage(503, { times: 2, seconds: 10, endpoint: 'keys' })
    const shown = { kind: 503, endpoints: ['keys'], since: 1000 }
    await time.advance(4)
    await ask(keyUrl)
    expect(outage).toMatchObject({ ...shown, secondsLeft: 6, timesLeft: 1 })
    expect(own.outages()).toMatchObject([{ ...shown, secondsLeft: 6, timesLeft: 1 }])
    await time.advance(7)
    expect(outage).toMatchObject({ ...shown, secondsLeft: 0, timesLeft: 1 })
    expect(own.outages()).toEqual([])
  })

  test('affect no request after they were ended', async () => {
    const own = await createTestIssuer({ algorithm: 'ES256' })
    const outage = own.outage(503)
    outage.restore()
    expect(outage.timesLeft).toBe(0)
    const { fetch: ask, keyUrl } = tokenService(own)
    expect((await ask(keyUrl)).status).toBe(200)
  })

  test('can be ended, each by itself and more than once', async () => {
    const own = await createTestIssuer({ algorithm: 'ES256' })
    own.outage(500)
    own.outage(503)
    const [first] = own.outages()
    first?.restore()
    first?.restore()
    expect(own.outages()).toMatchObject([{ kind: 503 }])
    for (const outage of own.outages()) outage.restore()
    expect(own.outages()).toEqual([])
  })
})
