import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'

import { isAxiosError } from 'axios'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'

import { createClient, createLoginService, failureOf, type LoginService } from './login-service.ts'
import { axiosWith } from './recipes/axios.ts'
import { gotWith } from './recipes/got.ts'
import { kyWith } from './recipes/ky.ts'
import { undiciWith } from './recipes/undici.ts'
import { serve } from './serve.ts'

interface Answer {
  readonly status: number
  readonly body: string
}

type Call = (method: 'GET' | 'POST', path: string, body?: string) => Promise<Answer>

const elsewhere = await serve((_request, response) => response.writeHead(401).end('elsewhere'))
const refused = new Set<string>()
/** Says what it was sent, unless the token is refused. */
const api = await serve(async (request, response) => {
  const { method, url, headers } = request
  const body = await text(request)
  const isRefused = refused.has(headers.authorization ?? '') || refused.has('all')
  if (url === '/away') response.writeHead(302, { location: elsewhere.url }).end()
  else response.writeHead(isRefused ? 401 : 200).end(`${method} ${url} ${body}`)
})

afterAll(async () => {
  await api[Symbol.asyncDispose]()
  await elsewhere[Symbol.asyncDispose]()
})

const RECIPES: Readonly<Record<string, (tokens: ReturnType<typeof createClient>) => Call>> = {
  undici(tokens) {
    const call = undiciWith(tokens, api.url)
    return async (method, path, body) => {
      const response = await call(path, body === undefined ? { method } : { method, body })
      return { status: response.statusCode, body: await response.body.text() }
    }
  },
  axios(tokens) {
    const call = axiosWith(tokens, api.url)
    return async (method, url, data) => {
      const config = { method, url, data, responseType: 'text' as const }
      try {
        const { status, data: body } = await call.request<string>(config)
        return { status, body }
      } catch (error) {
        if (!isAxiosError<string>(error) || error.response === undefined) throw error
        return { status: error.response.status, body: error.response.data }
      }
    }
  },
  got(tokens) {
    const call = gotWith(tokens, api.url)
    return async (method, path, body) => {
      const options = { method, throwHttpErrors: false, ...(body === undefined ? {} : { body }) }
      const response = await call(path.slice(1), options)
      return { status: response.statusCode, body: response.body }
    }
  },
  ky(tokens) {
    const call = kyWith(tokens, api.url)
    return async (method, path, body) => {
      const options = { method, throwHttpErrors: false, ...(body === undefined ? {} : { body }) }
      const response = await call(path, options)
      return { status: response.status, body: await response.text() }
    }
  },
}

describe.each(Object.entries(RECIPES))('%s', (name, create) => {
  let service: LoginService
  let tokens: ReturnType<typeof createClient>
  let call: Call
  let before: number
  const seen = () => api.requests.slice(before).map(({ headers }) => headers.authorization)
  const bearer = (index: number) => `Bearer ${service.tokens[index]}`

  beforeEach(() => {
    service = createLoginService()
    tokens = createClient(service, {
      fetch: async (url, init) =>
        await (url.startsWith('https://auth.test') ? service.fetch(url, init) : fetch(url, init)),
      origins: [api.url],
    })
    call = create(tokens)
    refused.clear()
    before = api.requests.length
  })

  test('sends the token', async () => {
    expect(await call('GET', '/a')).toEqual({ status: 200, body: 'GET /a ' })
    expect(seen()).toEqual([bearer(0)])
  })

  test.each([
    ['GET', undefined],
    ['POST', 'x=1'],
  ] as const)('a 401 to a %s costs another token and one repetition', async (method, body) => {
    refused.add(`Bearer ${await tokens.get()}`)
    expect(await call(method, '/a', body)).toEqual({
      status: 200,
      body: `${method} /a ${body ?? ''}`,
    })
    expect(seen()).toEqual([bearer(0), bearer(1)])
    expect(service.requests).toHaveLength(2)
  })

  test.each([
    ['GET', undefined],
    ['POST', 'x=1'],
  ] as const)('a second 401 to a %s is the answer', async (method, body) => {
    refused.add('all')
    expect(await call(method, '/a', body)).toMatchObject({ status: 401 })
    expect(seen()).toEqual([bearer(0), bearer(1)])
    expect(service.requests).toHaveLength(2)
  })

  test('no token reaches another origin by a redirect', async () => {
    const earlier = elsewhere.requests.length
    const { status } = await call('GET', '/away')
    const headers = elsewhere.requests.slice(earlier).flatMap(({ rawHeaders }) => rawHeaders)
    expect(headers.join()).not.toMatch(/authorization|Bearer/i)
    expect(status).toBe(name === 'undici' ? 302 : 401)
    expect(seen().every((authorization) => authorization?.startsWith('Bearer '))).toBe(true)
  })

  test('an absolute URL takes no token to another origin', async () => {
    const earlier = elsewhere.requests.length
    await call('GET', `${elsewhere.url}/a`).catch(() => undefined)
    const headers = elsewhere.requests.slice(earlier).flatMap(({ rawHeaders }) => rawHeaders)
    expect(headers.join()).not.toMatch(/authorization|Bearer/i)
  })

  test('is tested with the version that the README names', () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
    const manifest = new URL(`../node_modules/${name}/package.json`, import.meta.url)
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
    const [major, minor] = version.split('.')
    expect(readme).toMatch(new RegExp(`^Tested with .*\\b${name} ${major}\\.${minor}\\b`, 'm'))
  })

  test('stands in the README as it runs here', () => {
    const [readme, recipe] = ['../README.md', `./recipes/${name}.ts`].map((path) =>
      readFileSync(new URL(path, import.meta.url), 'utf8'),
    )
    expect(readme).toContain(`\`\`\`ts\n${recipe}\`\`\``)
  })
})

test.each(['/', '/v1/'])('got takes the URL of an API that ends in %s', async (path) => {
  const service = createLoginService()
  const tokens = createClient(service, { origins: [api.url] })
  const url = api.url.replace('http', 'HTTP')
  await gotWith(tokens, `${url}${path}`).get('a', { throwHttpErrors: false })
  expect(api.requests.at(-1)?.headers.authorization).toBe(`Bearer ${service.tokens[0]}`)
})

test('axios: the JSON of an error has no token', async () => {
  const service = createLoginService()
  const tokens = createClient(service, { origins: [api.url] })
  const failing = axiosWith(tokens, api.url)
  const first = await failureOf(failing.get('/a', { validateStatus: () => false }))
  refused.add('all')
  const repeated = await failureOf(failing.get('/a'))
  refused.clear()
  expect(isAxiosError(first) && isAxiosError(repeated)).toBe(true)
  const json = JSON.stringify([first, repeated])
  expect(service.tokens).toHaveLength(2)
  for (const token of service.tokens) expect(json).not.toContain(token)
})
