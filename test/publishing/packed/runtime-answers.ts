import type { DpopClient, TestIssuer } from '@portcullis/testing'

// What the programs of runtimes.ts must answer.

/** What `verdicts.ts` expects of a token. */
export const NAMED = {
  issuer: 'https://auth.test',
  audience: 'api',
  type: 'at+jwt',
  maxTokenAge: 3600,
}

/** What `mcp.ts` is known as. */
export const RESOURCE = 'https://mcp.test/mcp'

/** What a stranger, a user without the scope and one with it get, also of a new key. */
export async function expectScopeToOpen(url: string, issuer: TestIssuer): Promise<void> {
  const allowed = async () =>
    await issuer.bearer({ claims: { sub: 'ada', scope: 'locations:write' } })
  const good = await allowed()
  const answers: [title: string, init: RequestInit, expected: string][] = [
    ['no token', {}, '401 An access token is required'],
    ['a good one', { headers: good, method: 'POST', body: 'unread' }, '200 {"savedBy":"ada"}'],
    ['the same again', { headers: good }, '200 {"savedBy":"ada"}'],
    [
      'one without the scope',
      { headers: await issuer.bearer() },
      '403 The access token lacks a required scope',
    ],
    [
      'a bad one',
      { headers: { authorization: 'Bearer a.b.c' } },
      '401 The access token is not valid',
    ],
    ['HEAD without a token', { method: 'HEAD' }, '401 '],
    [
      'repeated headers',
      {
        headers: [
          ['authorization', 'Basic YTpi'],
          ['authorization', good.authorization],
        ],
      },
      '400 The request must have one Authorization header, and not more than one DPoP header',
    ],
  ]
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      await expectAnswer(url, 'many at once', { headers: await allowed() }, '200 {"savedBy":"ada"}')
    }),
  )
  for (const [title, init, expected] of answers) await expectAnswer(url, title, init, expected)
  await issuer.rotate()
  await expectAnswer(url, 'a new key', { headers: await allowed() }, '200 {"savedBy":"ada"}')
}

async function expectAnswer(
  url: string,
  title: string,
  init: RequestInit,
  expected: string,
): Promise<void> {
  const response = await fetch(url, init)
  const seen = `${response.status} ${await response.text()}`
  if (seen !== expected) throw new Error(`${title}: ${seen}, not ${expected}`)
}

function post(body: string): RequestInit {
  return { method: 'POST', body }
}

/** What the runtime says of the tokens and proofs of an issuer, and of a new key. */
export async function expectVerdicts(
  url: string,
  issuer: TestIssuer,
  dpop: DpopClient,
): Promise<void> {
  const expectVerdict = async (title: string, init: RequestInit, verdict: string) => {
    await expectAnswer(url, title, init, `200 ${JSON.stringify(verdict)}`)
  }
  const claims = { sub: 'ada' }
  await expectVerdict('a good token', post(await issuer.token({ claims })), 'ada')
  // Before the bad ones: after a flood of forged tokens a new key may be seen up to 15 seconds later.
  await issuer.rotate()
  await expectVerdict('a new key', post(await issuer.token({ claims })), 'ada')
  const bad = await issuer.badTokens()
  for (const { name, token, code, reason } of bad)
    await expectVerdict(name, post(token), `${code} ${reason}`)

  const request = { url: 'https://api.test/' }
  const bound = { ...request, token: await issuer.token({ claims, boundTo: { jkt: dpop.jkt } }) }
  await expectVerdict('a proof', { headers: { ...(await dpop.headers(bound)) } }, 'ada')
  const used = { headers: { ...(await dpop.headers(bound)) } }
  await expectVerdict('another proof', used, 'ada')
  await expectVerdict('the same again', used, 'invalid_dpop_proof replayed_proof')
  const proofs = await dpop.badProofs(bound)
  for (const { name, headers, code, reason } of proofs)
    await expectVerdict(name, { headers }, `${code} ${reason}`)
  if (bad.length < 60 || proofs.length < 20) throw new Error('there are fewer tokens or proofs')
}

/** What an endpoint of the Model Context Protocol answers to strangers, and to users without and with the scope of a tool. */
export async function expectToolsToBeGuarded(url: string, issuer: TestIssuer): Promise<void> {
  const endpoint = new URL('mcp', url).href
  const metadata = new URL('.well-known/oauth-protected-resource/mcp', url).href
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'save' } }
  const sent = (headers: Readonly<Record<string, string>> = {}): RequestInit => ({
    ...post(JSON.stringify(call)),
    headers: { ...headers, 'content-type': 'application/json' },
  })
  const bearer = async (scope: string, audience = RESOURCE) =>
    await issuer.bearer({ claims: { sub: 'ada', client_id: 'editor', scope, aud: audience } })

  const stranger = await fetch(endpoint, sent())
  const challenge = stranger.headers.get('www-authenticate') ?? ''
  const where = 'resource_metadata="https://mcp.test/.well-known/oauth-protected-resource/mcp"'
  if (stranger.status !== 401 || !challenge.includes(where)) {
    throw new Error(`a stranger: ${stranger.status} ${challenge}`)
  }
  const { resource } = (await (await fetch(metadata)).json()) as { resource: unknown }
  if (resource !== RESOURCE) throw new Error(`the metadata name ${String(resource)}`)
  for (const [title, headers, status] of [
    ['for another resource', await bearer('tools files:write', `${RESOURCE}/`), 401],
    ['without the scope of the tool', await bearer('tools'), 403],
  ] as const) {
    const { status: seen } = await fetch(endpoint, sent({ ...headers }))
    if (seen !== status) throw new Error(`a token ${title}: ${seen}, not ${status}`)
  }
  const answer = { user: 'ada', clientId: 'editor', scopes: ['tools', 'files:write'] }
  const expected = JSON.stringify({ ...answer, hasToken: false, parsedBody: call })
  const good = sent({ ...(await bearer('tools files:write')) })
  await expectAnswer(endpoint, 'a good token', good, `200 ${expected}`)
}
