import { dpopClient } from '@portcullis/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { type Running, start } from '../flow/processes.ts'
import { describeWithRedis } from './describe-with-redis.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { createStream, issue, type Issued, KEY, STREAM } from './scene.ts'
import { until } from './waiting.ts'

const PROCESSES = 3
/** After the last restart. */
const REVOCATIONS = 30

interface Api {
  readonly process: Running
  readonly url: string
}

describeWithRedis('several processes of an API', () => {
  let server: RedisServer
  const apis: Api[] = []

  beforeAll(async () => {
    server = await startRedis()
    await createStream(server)
    apis.push(...(await Promise.all(Array.from({ length: PROCESSES }, startApi))))
  })
  afterAll(async () => {
    for (const { process } of apis) await process[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  })

  async function startApi(): Promise<Api> {
    const env = { REDIS_URL: server.url, STREAM, KEY }
    const process = await start(new URL('api.ts', import.meta.url), env)
    return { process, url: await process.ask<string>('url') }
  }

  test('a DPoP proof is taken by one of them: the first of several at once, and none that comes later', async () => {
    const client = await dpopClient()
    const { token } = await issue({ cnf: { jkt: client.jkt } })
    for (let times = 0; times < 10; times += 1) {
      const headers = await client.headers({ url: 'https://api.test/', method: 'GET', token })
      const send = async ({ url }: Api) => await statusOf(url, { headers: { ...headers } })
      const answers = await Promise.all(apis.map(send))
      expect(answers.toSorted((one, other) => one - other)).toEqual([200, 401, 401])
      expect(await Promise.all(apis.map(send))).toEqual([401, 401, 401])
    }
  })

  test('what one revokes the others refuse, through a rolling restart, and nothing else', async () => {
    const bystanders = await Promise.all(Array.from({ length: 10 }, async () => await issue()))
    const revoked: Issued[] = []
    const retired: Api[] = []
    const ending = new AbortController()
    const restarts = restartEach(apis, retired, startApi).finally(() => {
      ending.abort()
    })
    let remaining = REVOCATIONS
    for (let index = 0; remaining > 0; index += 1) {
      if (ending.signal.aborted) remaining -= 1
      for (const { process } of retired.splice(0)) await process[Symbol.asyncDispose]()
      const [from, ...others] = inTurn([...apis], index)
      const token = await issue()
      expect(await call(from, token, 'POST', '/logout')).toBe(200)
      const refused = others.map(async (api) => {
        await until('refused', async () => (await call(api, token)) === 401)
      })
      await Promise.all(refused)
      expect(await call(from, token)).toBe(401)
      revoked.push(token)
      const [bystander = token] = inTurn(bystanders, index)
      for (const api of others) expect(await call(api, bystander)).toBe(200)
    }
    await restarts
    // The new processes have read what was revoked before they began.
    for (const api of apis) {
      for (const token of revoked) expect(await call(api, token)).toBe(401)
      for (const bystander of bystanders) expect(await call(api, bystander)).toBe(200)
    }
  })
})

/** One after another. Who has been replaced ends when nobody calls it any more. */
async function restartEach(
  apis: Api[],
  retired: Api[],
  startApi: () => Promise<Api>,
): Promise<void> {
  for (const [index, former] of [...apis].entries()) {
    apis[index] = await startApi()
    retired.push(former)
  }
}

async function call(
  api: Api | undefined,
  { token }: Issued,
  method = 'GET',
  path = '/',
): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  return await statusOf(`${api?.url}${path}`, { method, headers })
}

async function statusOf(url: string, init: RequestInit): Promise<number> {
  const response = await fetch(url, init)
  await response.body?.cancel()
  return response.status
}

function inTurn<Item>(items: readonly Item[], by: number): readonly Item[] {
  const first = by % items.length
  return [...items.slice(first), ...items.slice(0, first)]
}
