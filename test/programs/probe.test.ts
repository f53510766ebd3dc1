import { createHmac, createPublicKey, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

import { createVerifier, localKeys, remoteKeys, type VerifierOptions } from '@portcullis/core'
import { authenticate, getAuth } from '@portcullis/express'
import { systemClock } from '@portcullis/kit/time'
import express, { type ErrorRequestHandler, type Request, type RequestHandler } from 'express'
import { expressjwt } from 'express-jwt'
import jsonwebtoken from 'jsonwebtoken'
import { afterAll, describe, expect, test } from 'vitest'

import { runProgram } from '../../packages/cli/test/run-program.ts'
import { serving } from '../../packages/cli/test/serving.ts'
import { frameworks } from '../frameworks/contract/frameworks/index.ts'

// What `probe` says of APIs as people write them, right and wrong, with `portcullis serve` as their issuer.

const ISSUER = 'https://auth.test'
const AUDIENCE = 'api'
const ALGORITHMS: jsonwebtoken.Algorithm[] = ['RS512']
const RIGHT = { algorithms: ALGORITHMS, issuer: ISSUER, audience: AUDIENCE }

type Guard = (key: KeyObject, authUrl: string) => RequestHandler | readonly RequestHandler[]

/** jsonwebtoken in a middleware, as its users write it. */
function withJsonwebtoken(verify: (token: string, key: KeyObject) => unknown): Guard {
  return (key) => (request, response, next) => {
    const [scheme = '', token = ''] = request.headers.authorization?.split(' ') ?? []
    try {
      if (scheme.toLowerCase() !== 'bearer') throw new Error('no token')
      verify(token, key)
    } catch {
      response.sendStatus(401)
      return
    }
    next()
  }
}

function jsonwebtokenWith(options: jsonwebtoken.VerifyOptions): Guard {
  return withJsonwebtoken((token, key) => {
    jsonwebtoken.verify(token, key, options)
    checkRest(token)
  })
}

/** What jsonwebtoken and express-jwt leave to their users. */
function checkRest(token: string): void {
  const { header, payload } = jsonwebtoken.decode(token, { complete: true }) ?? {}
  if (header?.typ !== 'JWT' || header.crit !== undefined) throw new Error('another kind')
  if (typeof payload !== 'object' || payload.exp === undefined) throw new Error('no exp')
}

/** Takes whichever of several headers has a token that is right. */
const anyHeader: Guard = (key) => (request, response, next) => {
  const values = request.headersDistinct['authorization'] ?? []
  const isRight = values.some((value) => {
    try {
      const token = value.replace(/^bearer /i, '')
      jsonwebtoken.verify(token, key, RIGHT)
      checkRest(token)
      return true
    } catch {
      return false
    }
  })
  if (isRight) next()
  else response.sendStatus(401)
}

/** A guard of ours, which leaves something out. */
const ours =
  (others: Partial<VerifierOptions> = {}): Guard =>
  (key) =>
    authenticate(
      createVerifier({
        keys: localKeys(key.export({ format: 'jwk' })),
        issuer: ISSUER,
        audience: AUDIENCE,
        ...others,
      }),
    )

/** The same behind a middleware, which may change the request or let it pass the guard. */
const behind =
  (middleware: (request: Request) => unknown): Guard =>
  (key, authUrl) => {
    const guard = [ours()(key, authUrl)].flat()[0] as RequestHandler // it is one
    return (request, response, next) => {
      if (middleware(request) === 'pass') next()
      else guard(request, response, next)
    }
  }

const rewriting = (pattern: RegExp) =>
  behind(({ headers, rawHeaders }) => {
    const value = headers.authorization?.replace(pattern, 'Bearer ')
    if (value === undefined) return
    headers.authorization = value
    rawHeaders.splice(rawHeaders.indexOf('Authorization') + 1, 1, value)
  })

/** A guard of ours that leaves a claim to others. */
const claimBy =
  (name: 'iss' | 'aud', isRight: (value: unknown) => boolean): Guard =>
  (key, authUrl) => [
    ...[ours({ [name === 'iss' ? 'issuer' : 'audience']: null })(key, authUrl)].flat(),
    (request, response, next) => {
      if (isRight(getAuth(request).claims[name])) next()
      else response.sendStatus(401)
    },
  ]

const inQuery = behind((request) => {
  const { access_token: token } = request.query
  if (typeof token !== 'string' || request.headers.authorization !== undefined) return
  request.headers.authorization = `Bearer ${token}`
})

/** With one hole each, and what a probe says of it that lets `portcullis serve` mint. */
const HOLES: readonly (readonly [
  name: string,
  Guard,
  verdict: string,
  requests: readonly string[],
])[] = [
  ['no exp', ours({ requireExpiry: false }), 'breach', ['minted, missing expiry']],
  ['a log-out token', ours({ type: ['JWT', 'logout+jwt'] }), 'breach', ['minted, logout token']],
  ['a credential', ours({ type: ['JWT', 'vc+sd-jwt'] }), 'breach', ['minted, credential']],
  [
    'an issuer that begins alike',
    claimBy('iss', (iss) => typeof iss === 'string' && iss.startsWith(ISSUER)),
    'breach',
    ['minted, issuer that begins alike'],
  ],
  [
    'no issuer',
    claimBy('iss', (iss) => iss === undefined || iss === ISSUER),
    'breach',
    ['minted, missing issuer'],
  ],
  [
    'a list of issuers',
    claimBy('iss', (iss) => [iss].flat().includes(ISSUER)),
    'faulty',
    ['minted, issuer in an array'],
  ],
  [
    'no audience',
    claimBy('aud', (aud) => aud === undefined || aud === AUDIENCE),
    'breach',
    ['minted, missing audience'],
  ],
  ['the scheme Token', rewriting(/^token /i), 'faulty', ['your token, scheme Token']],
  ['no scheme', rewriting(/^(?=eyJ)/), 'faulty', ['your token, no scheme']],
  [
    '?access_token=',
    inQuery,
    'faulty',
    ['minted token in ?access_token=', 'a forged one in ?access_token='],
  ],
  [
    'HEAD',
    behind(({ method }) => (method === 'HEAD' ? 'pass' : '')),
    'breach',
    ['HEAD, no token', 'HEAD, another key'],
  ],
  [
    'OPTIONS',
    behind(({ method }) => (method === 'OPTIONS' ? 'pass' : '')),
    'breach',
    ['OPTIONS, no token'],
  ],
]

const GUARDS: Readonly<Record<string, Guard>> = {
  ...Object.fromEntries(HOLES.map(([name, guard]) => [name, guard])),
  'jsonwebtoken, used right': jsonwebtokenWith(RIGHT),
  'express-jwt, used right': (key) => [
    expressjwt({ secret: key, ...RIGHT }),
    (request, _response, next) => {
      checkRest(request.headers.authorization?.replace(/^bearer /i, '') ?? '')
      next()
    },
    ((error: { status?: number }, _request, response, _next) => {
      response.sendStatus(error.status ?? 401)
    }) as ErrorRequestHandler as never, // Express tells them apart by the number of arguments
  ],
  'a guard of ours': (_, authUrl) =>
    authenticate(
      createVerifier({
        keys: remoteKeys(`${authUrl}/tokenservice/pubkey.json`),
        issuer: ISSUER,
        audience: AUDIENCE,
      }),
    ),
  'one that ignores exp': jsonwebtokenWith({ ...RIGHT, ignoreExpiration: true }),
  'one that ignores nbf': jsonwebtokenWith({ ...RIGHT, ignoreNotBefore: true }),
  'one that ignores iss': jsonwebtokenWith({ algorithms: ALGORITHMS, audience: AUDIENCE }),
  'one that ignores aud': jsonwebtokenWith({ algorithms: ALGORITHMS, issuer: ISSUER }),
  'one that takes alg none': withJsonwebtoken((token, key) => {
    const { alg } = jsonwebtoken.decode(token, { complete: true })?.header ?? {}
    if (alg !== 'none') jsonwebtoken.verify(token, key, RIGHT)
    checkRest(token)
  }),
  'one that takes the public key for a secret': withJsonwebtoken((token, key) => {
    const [header = '', payload = '', signature = ''] = token.split('.')
    const secret = key.export({ type: 'spki', format: 'pem' })
    const mac = createHmac('sha256', secret).update(`${header}.${payload}`).digest('base64url')
    const { iss, aud } = jsonwebtoken.decode(token, { json: true }) ?? {}
    if (mac !== signature || iss !== ISSUER || aud !== AUDIENCE) {
      jsonwebtoken.verify(token, key, RIGHT)
    }
    checkRest(token)
  }),
  'one that checks no signature': withJsonwebtoken((token) => {
    const { iss, aud } = jsonwebtoken.decode(token, { json: true }) ?? {}
    if (iss !== ISSUER || aud !== AUDIENCE) throw new Error('no token of ours')
  }),
  'one that ignores crit': withJsonwebtoken((token, key) => {
    const { header, payload } = jsonwebtoken.verify(token, key, { ...RIGHT, complete: true })
    const hasExpiry = typeof payload === 'object' && payload.exp !== undefined
    if (header.typ !== 'JWT' || !hasExpiry) throw new Error('not ours')
  }),
  'one that takes any of several headers': anyHeader,
}

const issuer = await serving(['--issuer', ISSUER, '--audience', AUDIENCE])
afterAll(async () => {
  await issuer[Symbol.asyncDispose]()
})
const jwk = (await (await fetch(`${issuer.url}/tokenservice/pubkey.json`)).json()) as object
const key = createPublicKey({ key: { ...jwk }, format: 'jwk' })
const token = await (await issuer.logIn('demo', 'demo')).text()

async function probed(url: string, args: readonly string[]) {
  const words = ['probe', url, '--json', ...args]
  const { exitCode, stdout, stderr } = await runProgram(words, {
    env: { TOKEN: token },
    fetch: globalThis.fetch,
    clock: systemClock,
  })
  return { exitCode, stderr, report: JSON.parse(stdout) as Report }
}

const handle: RequestHandler = (request, response) => void response.json({ at: request.path })

async function reportOn(name: string, args: readonly string[] = [], withKeys = true) {
  const guard = GUARDS[name]?.(key, issuer.url)
  if (guard === undefined) throw new TypeError(`there is no ${name}`)
  const app = express()
  app.options('/v1/me', ...[guard].flat(), handle)
  app.get('/v1/me', ...[guard].flat(), handle)
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const { port } = server.address() as AddressInfo // of a server that listens on a port
    const keys = withKeys ? ['--auth-url', issuer.url] : []
    return await probed(`http://127.0.0.1:${port}/v1/me`, [...keys, ...args])
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

interface Report {
  readonly verdict: string
  readonly tested: readonly string[]
  readonly notTested: readonly { readonly what: string }[]
  readonly findings: readonly {
    readonly level: string
    readonly text: string
    readonly requests: readonly string[]
  }[]
}

const ALL =
  'a valid token,HS256 with the public key,exp,nbf,iss,aud,typ,crit,iat,cnf,alg,form of the token,form of the claims,other schemes,?access_token=,HEAD,OPTIONS'.split(
    ',',
  )
/** What is asked by GET has no form. */
const FORM = 'access_token in a form'

const namesOf = ({ findings }: Report, level: string) =>
  findings.filter((each) => each.level === level).flatMap(({ requests }) => requests)

test.each(['jsonwebtoken, used right', 'express-jwt, used right', 'a guard of ours'])(
  '%s is sound, and everything but a form is tested, with and without a token of the user',
  async (name) => {
    for (const args of [[], ['--env', 'TOKEN']]) {
      const { exitCode, report } = await reportOn(name, args)
      expect(report).toMatchObject({ verdict: 'sound', tested: ALL, notTested: [{ what: FORM }] })
      expect(namesOf(report, 'breach')).toEqual([])
      expect(exitCode).toBe(0)
    }
  },
)

/** The last of two members `alg` counts, and is `none`. */
const NONE = /alg none|duplicate members in the header/

const minted = (...names: readonly string[]) => names.map((name) => `minted, ${name}`)

const NAMES = {
  iss: minted('wrong issuer', 'issuer that begins alike', 'missing issuer'),
  aud: minted('wrong audience', 'wrong audiences', 'audience as object', 'missing audience'),
}

test.each<[name: string, breaches: readonly string[]]>([
  ['one that ignores exp', ['minted, expired']],
  ['one that ignores nbf', ['minted, not yet valid']],
  ['one that ignores iss', NAMES.iss],
  ['one that ignores aud', NAMES.aud],
  ['one that takes alg none', ['minted, alg none', 'yours, alg none']],
  ['one that takes the public key for a secret', ['HS256 with the public key']],
  ['one that takes any of several headers', ['a forged one, then your token']],
])('%s is a breach, and nothing else of it is one', async (name, breaches) => {
  const { exitCode, report } = await reportOn(name, ['--env', 'TOKEN'])
  expect(report.verdict).toBe('breach')
  expect(report.findings[0]?.level).toBe('breach')
  expect(namesOf(report, 'breach')).toEqual(expect.arrayContaining([...breaches]))
  expect(namesOf(report, 'breach').filter((each) => !NONE.test(each))).toEqual(
    breaches.filter((each) => !NONE.test(each)),
  )
  expect(exitCode).toBe(1)
})

describe('an API that lets one thing through', () => {
  test.each(HOLES)(
    '%s: it is not sound, and nothing else of it is wrong',
    async (name, _, verdict, requests) => {
      const { exitCode, report } = await reportOn(name, ['--env', 'TOKEN'])
      expect(report.verdict).toBe(verdict)
      expect(namesOf(report, verdict === 'faulty' ? 'problem' : 'breach').toSorted()).toEqual(
        requests.toSorted(),
      )
      expect(namesOf(report, verdict === 'faulty' ? 'breach' : 'problem')).toEqual([])
      expect(exitCode).toBe(1)
    },
  )

  test('a critical header that no API can know: it is faulty', async () => {
    const { exitCode, report } = await reportOn('one that ignores crit', ['--env', 'TOKEN'])
    expect([report.verdict, exitCode]).toEqual(['faulty', 1])
    expect(namesOf(report, 'problem')).toEqual(['minted, critical header'])
  })

  test('?access_token=: it is faulty without tokens of the issuer, too, and no token of the user is in a URL', async () => {
    const { report } = await reportOn('?access_token=', ['--env', 'TOKEN'], false)
    expect(report.verdict).toBe('faulty')
    expect(namesOf(report, 'problem')).toEqual(['a forged one in ?access_token='])
    expect(report.notTested.map(({ what }) => what)).toContain('?access_token=')
  })
})

describe.each(frameworks.map(({ name, createApp }) => ({ name, createApp })))(
  'an API that is guarded by us, $name',
  ({ createApp }) => {
    test.each([false, true])(
      'is sound, all but a form is tested, and nothing is said of it; CORS middleware: %s',
      async (cors) => {
        const keys = localKeys(key.export({ format: 'jwk' }))
        const verifier = createVerifier({ keys, issuer: ISSUER, audience: AUDIENCE })
        const routes = [{ path: '/v1/me', handle: () => ({ me: 'ada' }) }]
        await using app = await createApp({ guards: [{ verifier }], routes, cors })
        const args = ['--auth-url', issuer.url, '--env', 'TOKEN']
        const { exitCode, stderr, report } = await probed(`${app.url}/v1/me`, args)
        expect(report).toMatchObject({ verdict: 'sound', findings: [] })
        expect(report).toMatchObject({ tested: ALL, notTested: [{ what: FORM }] })
        expect(exitCode).toBe(0)
        expect(stderr).toMatch(/Sends \d\d bad tokens, which may fire an alarm/)
      },
    )
  },
)

test('one that checks no signature, but issuer and audience, is a breach by all that anybody can sign', async () => {
  const { exitCode, report } = await reportOn(
    'one that checks no signature',
    ['--env', 'TOKEN'],
    false,
  )
  expect(report.verdict).toBe('breach')
  expect(namesOf(report, 'breach')).toEqual(expect.arrayContaining(['another key', 'alg none']))
  expect(exitCode).toBe(1)
})

/** Of a token of the user other texts can be made, and sent with other schemes. */
const STILL_TESTED: ReadonlySet<string> = new Set([
  'form of the token',
  'other schemes',
  'HEAD',
  'OPTIONS',
])

test.each(['one that ignores exp', 'one that ignores nbf', 'one that ignores aud'])(
  '%s: without tokens of the issuer the report says that this is not tested',
  async (name) => {
    const { report } = await reportOn(name, ['--env', 'TOKEN'], false)
    expect(report.verdict).toBe('sound')
    expect(report.notTested.map(({ what }) => what)).toEqual([
      ...ALL.slice(1).filter((each) => !STILL_TESTED.has(each)),
      FORM,
    ])
  },
)
