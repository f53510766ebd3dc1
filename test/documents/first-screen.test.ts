import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { systemClock } from '@portcullis/kit/time'
import { exportJWK, generateKeyPair } from 'jose'
import { Provider } from 'oidc-provider'
import request from 'supertest'
import { afterAll, describe, expect, test } from 'vitest'

import { runProgram } from '../../packages/cli/test/run-program.ts'
import { serve } from '../bound-tokens/serve.ts'
import { adapters } from '../frameworks/contract/frameworks/index.ts'
import { writtenExamples } from './examples.ts'
import { AUDIENCE, ISSUER } from './identity-provider.ts'
import { blocksOf, exampleOf } from './markdown.ts'

// The first screen of each adapter's README as a newcomer uses it, with an identity provider of others (oidc-provider): the
// example, the request, and the command that says why a token is refused.

const root = fileURLToPath(new URL('../..', import.meta.url))
const examples = writtenExamples('.readme-first-screen')
const SECRET = 'a secret of this client alone'

const { privateKey } = await generateKeyPair('RS256', { extractable: true })
const key = { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' }
const provider = await serve((url) => {
  const handle = new Provider(url, {
    clients: [
      {
        client_id: 'newcomer',
        client_secret: SECRET,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    jwks: { keys: [key] },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, resource) => ({
          scope: 'locations:read locations:write',
          audience: resource,
          accessTokenFormat: 'jwt',
        }),
      },
    },
    ttl: { ClientCredentials: 600 },
  }).callback()
  return (incoming, answer) => void handle(incoming, answer)
})

afterAll(async () => {
  await provider[Symbol.asyncDispose]()
  examples.remove()
})

/** A text of a document with the provider of this test in place of the one that it names. */
function named(text: string): string {
  return text.replaceAll(ISSUER, provider.url)
}

/** A login of a program: RFC 6749 section 4.4, with a resource of RFC 8707. */
async function tokenFor(scope: string, resource = AUDIENCE): Promise<string> {
  const response = await fetch(`${provider.url}/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: 'newcomer',
      client_secret: SECRET,
      ...(scope !== '' && { scope }),
      ...(resource !== '' && { resource }),
    }),
  })
  const { access_token: token } = (await response.json()) as { access_token: string }
  return token
}

describe.each(adapters)('packages/$folder/README.md', async ({ folder, exampleEnding }) => {
  const readme = readFileSync(join(root, 'packages', folder, 'README.md'), 'utf8')
  const code = named(exampleOf(readme, 0))
  const { app } = (await examples.run(folder, code, exampleEnding)) as { app: RequestListener }

  const [, commands] = blocksOf(readme).filter(({ language }) => language === 'sh')
  const [asking = '', explaining = ''] = commands?.code.trimEnd().split('\n').slice(-2) ?? []
  const status = folder === 'nest' ? 201 : 200

  /** What `curl` asks. */
  async function call(headers: Readonly<Record<string, string>>) {
    const [, path = ''] =
      /^curl -i -X POST -H "Authorization: Bearer \$TOKEN" localhost:3000(\/\S+)$/.exec(asking) ??
      []
    return await request(app).post(path).set(headers)
  }

  test('a token of the provider is accepted, one without the scope is 403, none is 401', async () => {
    const authorization = `Bearer ${await tokenFor('locations:write')}`
    const accepted = await call({ authorization })
    expect([accepted.status, accepted.body]).toEqual([status, { savedBy: 'newcomer' }])
    const lacking = await call({ authorization: `Bearer ${await tokenFor('locations:read')}` })
    expect(lacking.status).toBe(403)
    expect(lacking.headers['www-authenticate']).toContain('error="insufficient_scope"')
    const missing = await call({})
    expect([missing.status, missing.headers['www-authenticate']]).toEqual([
      401,
      'Bearer realm="api"',
    ])
    expect(readme).toContain(
      `\`curl\` gets ${status}, without the header 401, without the scope 403.`,
    )
  })

  test('a token for another API is 401, and the last command says why', async () => {
    const other = await tokenFor('locations:write', 'https://shop.example.com')
    const refused = await call({ authorization: `Bearer ${other}` })
    expect(refused.status).toBe(401)
    const [input, words = ''] = explaining.split(' | npx @portcullis/cli ')
    expect(input).toBe('echo "$TOKEN"')
    const explained = async (token: string) =>
      await runProgram(named(words).split(' '), {
        stdin: `${token}\n`,
        fetch,
        clock: systemClock,
      })
    const { exitCode, stdout } = await explained(other)
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/^REFUSED {2}audience /)
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      `aud is "https://shop.example.com"; expected "${AUDIENCE}"`,
    )
    expect(await explained(await tokenFor('locations:write'))).toMatchObject({ exitCode: 0 })
    // Without `resource` this provider issues tokens that nobody else can read.
    const opaque = await tokenFor('', '')
    expect((await call({ authorization: `Bearer ${opaque}` })).status).toBe(401)
    expect((await explained(opaque)).stdout).toContain('an opaque token')
  })
})
