import { createTestIssuer } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { brandedMutualTls } from '../../src/possession/mutual-tls.ts'
import { checkGuardOptions, type GuardOptions } from '../../src/request/guard-options.ts'
import { authenticateRequest, isAtOnce } from '../../src/request/http.ts'
import { findTokenText, parseTokenHeader } from '../../src/request/token-header.ts'
import { createVerifier } from '../../src/verifier/create-verifier.ts'

const CERTIFICATE = 'A4DtL2JmUMhAsvJj5tKyn64SqzmuXbMrJa0n761y5v0'
const issuer = await createTestIssuer({ algorithm: 'ES256' })
const verifier = createVerifier(issuer.verifierOptions)
const token = await issuer.token()
const HEADER = 'x-access-token'
const REPEATED = { code: 'invalid_request', reason: 'repeated_credentials', status: 400 }
const MALFORMED = { code: 'invalid_token', reason: 'malformed', status: 401 }
const MISSING = { code: 'missing_token', reason: 'missing_header', status: 401 }

const guard = (options: GuardOptions = {}) =>
  checkGuardOptions<GuardOptions>(verifier, { credentials: { header: HEADER }, ...options })

const withHeaders = (headers: object, rawHeaders: readonly string[] = []) => ({
  headers,
  rawHeaders,
})

test.each<readonly [string, unknown]>([
  ['no object', HEADER],
  ['null', null],
  ['a list', [HEADER]],
  ['no header', {}],
  ['an unknown member', { header: HEADER, form: 'Bearer' }],
  ['an empty name', { header: '' }],
  ['a name with a space', { header: 'x token' }],
  ['a name with a line end', { header: 'x\r\ny' }],
  ['a name that is too long', { header: 'x'.repeat(101) }],
  ['another scheme', { header: HEADER, scheme: 'DPoP' }],
  ...['authorization', 'Authorization', 'Cookie', 'host', 'DPoP', 'proxy-authorization'].map(
    (header) => [header, { header }] as const,
  ),
  ...['__proto__', 'constructor', 'set-cookie', 'sec-websocket-protocol', 'upgrade'].map(
    (header) => [header, { header }] as const,
  ),
])('%s is a mistake, told at start-up', (_, credentials) => {
  expect(() => checkGuardOptions(verifier, { credentials })).toThrow(
    /^authenticate: credentials (?:must|may|is)/,
  )
})

test.each([HEADER, null, [HEADER], 7])(
  'what is no object is told how to write it: %j',
  (credentials) => {
    const options = { credentials } as unknown as GuardOptions
    expect(() => checkGuardOptions(verifier, options)).toThrow(
      "authenticate: credentials must be an object: { header: 'the-name' }",
    )
  },
)

test('credentials and dpop together are a mistake, told at start-up', () => {
  const dpop = { algorithms: ['ES256'], required: false, check() {}, remember() {}, nonce() {} }
  expect(() => checkGuardOptions(verifier, { credentials: { header: HEADER }, dpop })).toThrow(
    /credentials and dpop exclude each other/,
  )
})

test('the options are copied: a later change of the header changes nothing', async () => {
  const credentials = { header: HEADER }
  const options = checkGuardOptions(verifier, { credentials })
  credentials.header = 'x-other'
  const request = withHeaders({ 'x-other': token })
  await expect(authenticateRequest(verifier, request, options)).rejects.toMatchObject(MISSING)
})

test('a remembered token is answered at once, and only from the stated header', async () => {
  const options = guard()
  const request = withHeaders({ [HEADER]: token })
  await authenticateRequest(verifier, request, options, request)
  expect(isAtOnce(authenticateRequest(verifier, request, options, request))).toBe(true)
  const other = withHeaders({ authorization: `Bearer ${token}` })
  await expect(authenticateRequest(verifier, other, options, other)).rejects.toMatchObject(MISSING)
})

test.each([
  ['sent twice', withHeaders({ [HEADER]: token }, [HEADER, token, 'X-Access-Token', token])],
  ['a list', withHeaders({ [HEADER]: [token, token] })],
  ['joined by Node', withHeaders({ [HEADER]: `${token}, ${token}` })],
  [
    'joined by Headers',
    {
      headers: new Headers([
        [HEADER, token],
        [HEADER, token],
      ]),
    },
  ],
  [
    'empty, then a token',
    {
      headers: new Headers([
        [HEADER, ''],
        [HEADER, token],
      ]),
    },
  ],
])('repeated, %s: 400', async (_, request) => {
  const options = guard({ optional: true })
  await expect(authenticateRequest(verifier, request, options)).rejects.toMatchObject(REPEATED)
})

test.each(['', ' ', ` ${token}`, `${token} `, `Bearer ${token}`, `${token}\n`, '\0'])(
  'another form is 401: %j',
  async (value) => {
    const request = withHeaders({ [HEADER]: value })
    const found = authenticateRequest(verifier, request, guard({ optional: true }))
    await expect(found).rejects.toMatchObject(MALFORMED)
  },
)

test.each([7, {}, null, []])('what is no text is 400: %j', async (value) => {
  const request = withHeaders({ [HEADER]: [value] })
  const found = authenticateRequest(verifier, request, guard({ optional: true }))
  await expect(found).rejects.toMatchObject(REPEATED)
})

test('a value of a million characters is refused by its length, before it is decoded', async () => {
  const request = withHeaders({ [HEADER]: 'a'.repeat(1_000_000) })
  await expect(authenticateRequest(verifier, request, guard())).rejects.toMatchObject({
    code: 'invalid_token',
    reason: 'too_large',
  })
})

test('with the scheme Bearer, the token behind it is accepted and remembered, and none without it', async () => {
  const options = guard({ credentials: { header: HEADER, scheme: 'Bearer' } })
  const request = withHeaders({ [HEADER]: `Bearer ${token}` })
  await authenticateRequest(verifier, request, options, request)
  expect(isAtOnce(authenticateRequest(verifier, request, options, request))).toBe(true)
  const bare = withHeaders({ [HEADER]: token })
  await expect(authenticateRequest(verifier, bare, options, bare)).rejects.toMatchObject(MALFORMED)
})

test('a remembered token is accepted from a list of one, and is repeated in a list of two', async () => {
  const answer = async (value: unknown, rawHeaders: readonly string[] = []) => {
    const request = withHeaders({ [HEADER]: value }, rawHeaders)
    return await authenticateRequest(verifier, request, guard(), request)
  }
  await expect(answer(token)).resolves.toMatchObject({ token })
  await expect(answer([token])).resolves.toMatchObject({ token })
  await expect(answer([token, token])).rejects.toMatchObject(REPEATED)
  const twice = [HEADER, token, HEADER, token]
  await expect(answer(token, twice)).rejects.toMatchObject(REPEATED)
})

test('a header that others than the request have is none of it', async () => {
  const inherited = Object.create({ [HEADER]: token }) as object
  const request = withHeaders(inherited)
  await expect(authenticateRequest(verifier, request, guard(), request)).rejects.toMatchObject(
    MISSING,
  )
})

test('without the header an optional guard lets the request through as anonymous', async () => {
  const request = withHeaders({ authorization: 'Bearer a b' })
  expect(await authenticateRequest(verifier, request, guard({ optional: true }))).toBeUndefined()
})

const mutualTls = (of: string) => brandedMutualTls({ required: true, thumbprintOf: () => of })

test('a token that is bound to a certificate is accepted with it, and with no other', async () => {
  const bound = await issuer.token({ claims: { cnf: { 'x5t#S256': CERTIFICATE } } })
  const request = withHeaders({ [HEADER]: bound })
  const accepted = await authenticateRequest(
    verifier,
    request,
    guard({ mutualTls: mutualTls(CERTIFICATE) }),
  )
  expect(accepted?.token).toBe(bound)
  await expect(
    authenticateRequest(verifier, request, guard({ mutualTls: mutualTls('other') })),
  ).rejects.toMatchObject({ reason: 'binding' })
})

test('what a refusal tells developers names the header and holds no token', async () => {
  const refused = (request: object) =>
    authenticateRequest(verifier, request as ReturnType<typeof withHeaders>, guard())
  await expect(refused(withHeaders({ [HEADER]: `"${token}"` }))).rejects.toMatchObject({
    detail: 'the value of the header x-access-token is not one token and nothing else',
  })
  const preflight = { 'access-control-request-method': 'POST' }
  await expect(refused(withHeaders(preflight))).rejects.toMatchObject({
    detail:
      'the request has no header x-access-token, which this guard reads: it is a CORS preflight; put CORS middleware before the guard',
  })
})

test('where a scheme is stated, another one or none is malformed, before any verifier is asked', () => {
  const stated = { header: HEADER, scheme: 'Bearer' } as const
  for (const value of ['abc', 'Basic abc', 'undefined', 'Bearer']) {
    const request = withHeaders({ [HEADER]: value })
    expect(() => parseTokenHeader(request, stated)).toThrow(expect.objectContaining(MALFORMED))
    expect(findTokenText(request, stated)).toBeUndefined()
  }
})

test.each([[['Bearer abc']], [1], [undefined]])('%j is no text to compare', (value) => {
  const request = withHeaders({ [HEADER]: value })
  expect(findTokenText(request, { header: HEADER, scheme: 'Bearer' })).toBeUndefined()
  expect(findTokenText(request, { header: HEADER, scheme: undefined })).toBeUndefined()
})
