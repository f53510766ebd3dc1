import { createHmac, createPublicKey, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

import { createVerifier, remoteKeys } from '@portcullis/core'
import { authenticate } from '@portcullis/express'
import { systemClock } from '@portcullis/kit/time'
import express, { type RequestHandler } from 'express'
import { expressjwt } from 'express-jwt'
import jsonwebtoken from 'jsonwebtoken'
import { expect, test } from 'vitest'

import { runProgram } from '../../packages/cli/test/run-program.ts'
import { serving } from '../../packages/cli/test/serving.ts'

// What `probe` says of APIs as people write them, right and wrong, with `portcullis serve` as their issuer.

const ISSUER = 'https://auth.test'
const AUDIENCE = 'api'
const ALGORITHMS: jsonwebtoken.Algorithm[] = ['RS512']
const RIGHT = { algorithms: ALGORITHMS, issuer: ISSUER, audience: AUDIENCE }

type Guard = (key: KeyObject, authUrl: string) => RequestHandler

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
  return withJsonwebtoken((token, key) => jsonwebtoken.verify(token, key, options))
}

/** Takes whichever of several headers has a token that is right. */
const anyHeader: Guard = (key) => (request, response, next) => {
  const values = request.headersDistinct['authorization'] ?? []
  const isRight = values.some((value) => {
    try {
      jsonwebtoken.verify(value.replace(/^bearer /i, ''), key, RIGHT)
      return true
    } catch {
      return false
    }
  })
  if (isRight) next()
  else response.sendStatus(401)
}

const GUARDS: Readonly<Record<string, Guard>> = {
  'jsonwebtoken, used right': jsonwebtokenWith(RIGHT),
  'express-jwt, used right': (key) => expressjwt({ secret: key, ...RIGHT }),
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
  }),
  'one that takes the public key for a secret': withJsonwebtoken((token, key) => {
    const [header = '', payload = '', signature = ''] = token.split('.')
    const secret = key.export({ type: 'spki', format: 'pem' })
    const mac = createHmac('sha256', secret).update(`${header}.${payload}`).digest('base64url')
    const { iss, aud } = jsonwebtoken.decode(token, { json: true }) ?? {}
    if (mac !== signature || iss !== ISSUER || aud !== AUDIENCE) {
      jsonwebtoken.verify(token, key, RIGHT)
    }
  }),
  'one that checks no signature': withJsonwebtoken((token) => {
    const { iss, aud } = jsonwebtoken.decode(token, { json: true }) ?? {}
    if (iss !== ISSUER || aud !== AUDIENCE) throw new Error('no token of ours')
  }),
  'one that takes any of several headers': anyHeader,
}

async function reportOn(name: string, args: readonly string[] = [], withKeys = true) {
  await using issuer = await serving(['--issuer', ISSUER, '--audience', AUDIENCE])
  const jwk = (await (await fetch(`${issuer.url}/tokenservice/pubkey.json`)).json()) as object
  const key = createPublicKey({ key: { ...jwk }, format: 'jwk' })
  const token = await (await issuer.logIn('demo', 'demo')).text()
  const guard = GUARDS[name]?.(key, issuer.url)
  if (guard === undefined) throw new TypeError(`there is no ${name}`)
  const app = express()
  app.get('/v1/me', guard, (_, response) => void response.json({}))
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const { port } = server.address() as AddressInfo // of a server that listens on a port
    const keys = withKeys ? ['--auth-url', issuer.url] : []
    const words = ['probe', `http://127.0.0.1:${port}/v1/me`, ...keys, '--json', ...args]
    const { exitCode, stdout } = await runProgram(words, {
      env: { TOKEN: token },
      fetch: globalThis.fetch,
      clock: systemClock,
    })
    return { exitCode, report: JSON.parse(stdout) as Report }
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

const breachesOf = ({ findings }: Report) =>
  findings.filter(({ level }) => level === 'breach').flatMap(({ requests }) => requests)

const ALL = ['a valid token', 'HS256 with the public key', 'exp', 'nbf', 'iss', 'aud']

test.each(['jsonwebtoken, used right', 'express-jwt, used right', 'a guard of ours'])(
  '%s is sound, and everything is tested, with and without a token of the user',
  async (name) => {
    for (const args of [[], ['--env', 'TOKEN']]) {
      const { exitCode, report } = await reportOn(name, args)
      expect(report).toMatchObject({ verdict: 'sound', tested: ALL, notTested: [] })
      expect(breachesOf(report)).toEqual([])
      expect(exitCode).toBe(0)
    }
  },
  30_000,
)

test.each<[name: string, breaches: readonly string[]]>([
  ['one that ignores exp', ['minted, expired']],
  ['one that ignores nbf', ['minted, not yet valid']],
  ['one that ignores iss', ['minted, another issuer']],
  ['one that ignores aud', ['minted, another audience']],
  ['one that takes alg none', ['alg none', 'yours, alg none']],
  ['one that takes the public key for a secret', ['HS256 with the public key']],
  ['one that takes any of several headers', ['a forged one, then your token']],
])(
  '%s is a breach, and nothing else of it is one',
  async (name, breaches) => {
    const { exitCode, report } = await reportOn(name, ['--env', 'TOKEN'])
    expect(report.verdict).toBe('breach')
    expect(report.findings[0]?.level).toBe('breach')
    expect(breachesOf(report)).toEqual(expect.arrayContaining([...breaches]))
    expect(breachesOf(report).filter((each) => !/alg none/.test(each))).toEqual(
      breaches.filter((each) => !/alg none/.test(each)),
    )
    expect(exitCode).toBe(1)
  },
  30_000,
)

test('one that checks no signature, but issuer and audience, is a breach by all that anybody can sign', async () => {
  const { exitCode, report } = await reportOn(
    'one that checks no signature',
    ['--env', 'TOKEN'],
    false,
  )
  expect(report.verdict).toBe('breach')
  expect(breachesOf(report)).toEqual(expect.arrayContaining(['another key', 'alg none']))
  expect(exitCode).toBe(1)
})

test.each(['one that ignores exp', 'one that ignores nbf', 'one that ignores aud'])(
  '%s: without tokens of the issuer the report says that this is not tested',
  async (name) => {
    const { report } = await reportOn(name, ['--env', 'TOKEN'], false)
    expect(report.verdict).toBe('sound')
    expect(report.notTested.map(({ what }) => what)).toEqual(ALL.slice(1))
  },
  30_000,
)
