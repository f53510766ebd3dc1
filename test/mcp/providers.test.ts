import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import type { AuthError, AuthErrorReason, Verifier } from '@portcullis/core'
import type { EndpointOptions } from '@portcullis/mcp'
import { afterAll, describe, expect, test } from 'vitest'

import { root } from '../../docs/entries.ts'
import type { Change } from '../../packages/providers/test/cases.ts'
import { pageOf, sampleOf, tokenOf } from '../../packages/providers/test/world.ts'
import { writtenExamples } from '../documents/examples.ts'
import { blocksOf } from '../documents/markdown.ts'
import { createAgent, type Major } from './agent.ts'
import { post } from './calls.ts'
import { caseOf, play, type Played, PLAYED, RESOURCE } from './played-providers.ts'
import { SERVERS, startServer } from './servers.ts'

// The lines for each provider in PROVIDERS.md, as they stand: with the clients of both majors of the SDK, and a played provider whose tokens
// are those of its page.

interface Page {
  readonly verifier: Verifier
  readonly mcp: EndpointOptions
}

const examples = writtenExamples('.readme-mcp-providers')
afterAll(() => {
  examples.remove()
})

const SECTIONS = readFileSync(join(root, 'packages/mcp/PROVIDERS.md'), 'utf8').split(/^## /m)

/** The code of its section, as it stands: only the presets fetch from a provider that is played. */
async function codeOf(played: Played): Promise<Page> {
  const section = SECTIONS.find((each) => each.toLowerCase().startsWith(played.page)) ?? ''
  const blocks = blocksOf(section).filter(({ language }) => language === 'ts')
  const [{ code } = { code: '' }, ...others] = blocks
  expect(others).toEqual([])
  const text = code.replaceAll("'@portcullis/providers'", "'../mcp/played-presets.ts'")
  return (await examples.run(played.page, text)) as Page
}

/** The server of a page, and what its clients reach it and the provider by: both under the names that the page has. */
async function start(kind: (typeof SERVERS)[number], played: Played) {
  const { verifier, mcp } = await codeOf(played)
  const reasons: (string | undefined)[] = []
  const onRefusal = ({ reason }: AuthError) => reasons.push(reason)
  const server = await startServer(kind, () => verifier, { ...mcp, onRefusal, path: '/mcp' })
  const provider = play(played)
  const reach: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    const { origin, pathname } = new URL(request.url)
    if (origin !== new URL(RESOURCE).origin) return await provider.answer(request)
    return await fetch(new URL(pathname, server.url), init)
  }
  return {
    mcp,
    reasons,
    server,
    provider,
    reach,
    [Symbol.asyncDispose]: server[Symbol.asyncDispose],
  }
}

const KINDS = SERVERS.filter(({ major }) => major === 2)
const FLOWS = PLAYED.flatMap(([name, played]) =>
  KINDS.flatMap((kind) =>
    ([1, 2] as const).map((client: Major): [string, Played, typeof kind, Major] => [
      `${name}: ${kind.name}, called by SDK ${client}`,
      played,
      kind,
      client,
    ]),
  ),
)

test.each(FLOWS)('%s: from the first 401 to each tool', async (_title, played, kind, client) => {
  await using api = await start(kind, played)
  const { clientId, issuer } = played
  const options = { clientId, fetch: api.reach }
  const agent = createAgent(client, clientId === undefined ? undefined : issuer, options)
  const connection = await agent.connect(RESOURCE)
  const { sub } = sampleOf(caseOf(played))
  expect(JSON.parse(await connection.call('whoami'))).toMatchObject({
    user: sub,
    clientId: agent.kept.registered?.client_id,
    resource: RESOURCE,
    headers: [],
  })
  expect(api.provider.asked.at(-1)?.getAll('resource')).toEqual([RESOURCE])
  const { tools, scope } = api.mcp
  const needsMore = tools !== undefined && scope === undefined
  const first = await connection.call('write').catch((error: unknown) => String(error))
  expect(first).toMatch(needsMore ? /Unauthorized|authoriz/i : /^"written"$/)
  if (needsMore) await agent.logIn(connection)
  expect(await connection.call('write')).toBe('"written"')
  await connection.client.close()
})

/** Tokens of a provider, signed with its key, and what becomes of them at the server of its page: accepted if there is no reason. */
type Row = readonly [title: string, change: Change, reason: AuthErrorReason | undefined]

const claims = (changed: Readonly<Record<string, unknown>>): Change => ({ claims: changed })
const forNobody: readonly Row[] = [
  ['null as its audience', claims({ aud: null }), 'audience'],
  ['an empty text as its audience', claims({ aud: '' }), 'audience'],
  ['null in a list', claims({ aud: [null] }), 'audience'],
  ['an empty text in a list', claims({ aud: [''] }), 'audience'],
]
const without: readonly Row[] = [
  ['no audience', claims({ aud: undefined }), 'audience'],
  ['an empty list of audiences', claims({ aud: [] }), 'audience'],
]

const ROWS: Readonly<Record<string, readonly Row[]>> = {
  entra: [
    ['that of the page', claims({}), undefined],
    ['the resource as its audience, which is not stated', claims({ aud: RESOURCE }), 'audience'],
    ['Microsoft Graph as its audience', claims({ aud: 'https://graph.microsoft.com' }), 'audience'],
    ['another application', claims({ aud: '99999999-be56-4843-9ff4-e66a39bb12e3' }), 'audience'],
    ['no client: an ID token', claims({ azp: undefined, scp: undefined }), 'missing_claim'],
    ['another scope', claims({ scp: 'user_impersonation' }), 'scope'],
    ['the whole name of the scope', claims({ scp: `${RESOURCE}/access_as_user` }), 'scope'],
    ...without,
    ...forNobody,
  ],
  cognito: [
    ['no audience, with client and scope', claims({}), undefined],
    ['an empty list of audiences', claims({ aud: [] }), undefined],
    ['the resource as its audience', claims({ aud: RESOURCE }), undefined],
    [
      'the resource among others',
      claims({ aud: ['https://api.example.com', RESOURCE] }),
      undefined,
    ],
    ['another resource', claims({ aud: 'https://api.example.com' }), 'audience'],
    ['the resource with a slash more', claims({ aud: `${RESOURCE}/` }), 'audience'],
    ['another client', claims({ client_id: 'app2' }), 'claim'],
    [
      'another client, and the right one as azp',
      claims({ client_id: 'app2', azp: 'app1' }),
      'claim',
    ],
    ['no scope of this server', claims({ scope: 'openid places/reader' }), 'audience'],
    ['no scope at all', claims({ scope: undefined }), 'audience'],
    ['no scope, with the resource as its audience', claims({ aud: RESOURCE, scope: '' }), 'scope'],
    ['the kind of an ID token', claims({ token_use: 'id', aud: 'app1' }), 'claim'],
    ...forNobody,
  ],
  auth0: [
    [
      'the resource and /userinfo',
      claims({ aud: [RESOURCE, 'https://tenant.eu.auth0.com/userinfo'] }),
      undefined,
    ],
    ['the resource', claims({ aud: RESOURCE }), undefined],
    ['that of the page, which is for another API', claims({}), 'audience'],
    ['the client: an ID token', claims({ aud: 'my_client_id' }), 'audience'],
    ['another scope', claims({ aud: RESOURCE, scope: 'openid' }), 'scope'],
    ...without,
    ...forNobody,
  ],
  keycloak: [
    ['the client of the API', claims({ aud: 'orders', scope: 'tools' }), undefined],
    ['it among others', claims({ scope: 'openid tools' }), undefined],
    ['account', claims({ aud: 'account', scope: 'tools' }), 'audience'],
    ['the resource, which is not stated', claims({ aud: RESOURCE, scope: 'tools' }), 'audience'],
    ['that of the page, without the scope', claims({}), 'scope'],
    ['the kind of an ID token', claims({ typ: 'ID', aud: 'orders', scope: 'tools' }), 'claim'],
    ...without,
    ...forNobody,
  ],
}

const PAGES = PLAYED.filter(([name, { page }]) => name === page)

describe.each(PAGES)('%s', (page, played) => {
  test.each(ROWS[page] ?? [])('a token with %s: %o', async (_title, change, reason) => {
    for (const kind of KINDS) {
      await using api = await start(kind, played)
      const token = await tokenOf(caseOf(played), change)
      const answer = await post(`${api.server.url}/mcp`, 'whoami', { token })
      expect([answer.status === 200, api.reasons]).toEqual([
        reason === undefined,
        reason === undefined ? [] : [reason],
      ])
    }
  })

  test('its page ends with where the lines for an MCP server are', () => {
    const [, anchor = ''] =
      /\n\nFor an MCP server: `PROVIDERS\.md#([\w-]+)` of `@portcullis\/mcp`\.\n$/.exec(
        pageOf(caseOf(played)),
      ) ?? []
    const anchors = SECTIONS.map((each) =>
      each.slice(0, each.indexOf('\n')).toLowerCase().replaceAll(' ', '-'),
    )
    expect(anchors).toContain(anchor)
    expect(anchor.startsWith(page)).toBe(true)
  })
})
