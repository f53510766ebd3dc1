import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import { afterAll, describe, expect, test } from 'vitest'

import type { Load, Login, Report } from './client.ts'
import { start } from './processes.ts'

// A client, the token service and a guarded API: three processes, real HTTP, real time, and no sleeping.

describe('three processes', async () => {
  const service = await start(new URL('token-service.ts', import.meta.url))
  const AUTH_URL = await service.ask<string>('url')
  const api = await start(new URL('api.ts', import.meta.url), { AUTH_URL })
  const API_URL = await api.ask<string>('url')
  const client = await start(new URL('client.ts', import.meta.url), { AUTH_URL, API_URL })

  afterAll(async () => {
    await Promise.all([service, api, client].map(async (each) => await each[Symbol.asyncDispose]()))
  })

  async function logIn(name: string, loginId = 'demo', password = loginId): Promise<void> {
    await client.ask('logIn', { name, loginId, password } satisfies Login)
  }
  const load = async (wanted: Load) => await client.ask<Report>('load', wanted)
  const logins = async (loginId: string) => await service.ask<number>('logins', loginId)

  test('a hundred calls with one login', async () => {
    const before = await logins('demo')
    await logIn('first')
    const { outcomes, kids } = await load({ name: 'first', calls: 100 })
    expect(Object.keys(outcomes)).toEqual(['200'])
    expect(outcomes['200']).toBeGreaterThanOrEqual(100)
    expect(kids).toEqual([await service.ask('kid')])
    expect(await logins('demo')).toBe(before + 1)
  })

  test('a rotation under load: tokens of both keys were proven, and no call failed', async () => {
    await logIn('rotating', 'brief')
    const old = await service.ask<string>('kid')
    const underWay = client.told('a hundred calls')
    const report = load({ name: 'rotating', otherKeyThan: old, calls: 300 })
    await underWay
    const rotated = await service.ask<string>('rotate')
    expect(rotated).not.toBe(old)
    const { outcomes, kids } = await report
    expect(Object.keys(outcomes)).toEqual(['200'])
    expect(outcomes['200']).toBeGreaterThanOrEqual(400)
    expect(kids).toEqual([old, rotated])
  })

  test('tokens that expire under load: no call failed', async () => {
    const before = await logins('brief')
    await logIn('expiring', 'brief')
    const { outcomes, expiries } = await load({ name: 'expiring', untilExpired: true, calls: 100 })
    expect(Object.keys(outcomes)).toEqual(['200'])
    expect(expiries.length).toBeGreaterThanOrEqual(2)
    // The renewals come some tenths of a second early; none is made twice.
    expect((await logins('brief')) - before).toBeLessThanOrEqual(expiries.length + 1)
  })

  test('an outage: who has a token goes on, who has none is told, and is served afterwards', async () => {
    await logIn('provided')
    await load({ name: 'provided', calls: 1 })
    await service.ask('fail', 503)
    await logIn('deprived')
    const deprived = await load({ name: 'deprived', calls: 1 })
    expect(Object.keys(deprived.outcomes)).toEqual(['service_unavailable'])
    const provided = await load({ name: 'provided', calls: 100 })
    expect(Object.keys(provided.outcomes)).toEqual(['200'])
    await service.ask('recover')
    const served = await load({ name: 'deprived', calls: 1 })
    expect(Object.keys(served.outcomes)).toEqual(['200'])
  })

  test('refused credentials: every call fails at once, and the service is asked once', async () => {
    const before = await logins('demo')
    await logIn('refused', 'demo', 'wrong')
    const { outcomes } = await load({ name: 'refused', calls: 200 })
    expect(Object.keys(outcomes)).toEqual(['credentials_rejected'])
    expect(await logins('demo')).toBe(before + 1)
    expect(await client.ask('describe', 'refused')).toMatchObject({
      freshness: 'none',
      lastFailure: 'credentials_rejected',
      failures: 1,
    })
  })
})

describe('examples/service-to-service', async () => {
  const guarded = await run(
    'examples/start.ts',
    { TOKEN_SERVICE_PORT: '0' },
    /curl -i -X POST .*\n/,
  )
  const [, AUTH_URL = '', API_URL = ''] =
    /token service +(\S+)[^]*api +(\S+)/.exec(guarded.printed) ?? []
  const env = { AUTH_URL, API_URL }
  const path = 'examples/service-to-service/src/server.ts'
  const service = await run(path, env)
  const stranger = await run(path, { ...env, PASSWORD: 'wrong' })

  afterAll(async () => {
    await Promise.all([guarded, service, stranger].map(async (each) => await each.end()))
  })

  test('calls the guarded API with a token of its own', async () => {
    const response = await order(service.printed)
    expect(response.status).toBe(201)
    expect(await response.json()).toEqual({ savedBy: 'demo', location: { city: 'Oslo' } })
  })

  test('without a token it answers 503, and when to come back', async () => {
    const response = await order(stranger.printed)
    expect(response.status).toBe(503)
    expect(await response.json()).toEqual({ code: 'credentials_rejected' })
    // Rounded up from 30, or from a hair more: the clock has fractions.
    expect(response.headers.get('retry-after')).toMatch(/^3[01]$/)
  })

  test('its health says how it stands with the token', async () => {
    await order(service.printed)
    const response = await fetch(`${urlIn(service.printed)}/health`)
    expect(await response.json()).toMatchObject({ status: 'ok', token: { freshness: 'fresh' } })
  })
})

async function order(printed: string): Promise<Response> {
  return await fetch(`${urlIn(printed)}/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"city":"Oslo"}',
  })
}

function urlIn(printed: string): string {
  return /http\S+/.exec(printed)?.[0] ?? ''
}

/** Runs a program of the repository until it has printed what is awaited. */
async function run(path: string, env: Record<string, string>, awaited = /\n$/) {
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  const child: ChildProcess = spawn(process.execPath, ['--conditions=@portcullis/source', path], {
    cwd: root,
    env: { ...process.env, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  let printed = ''
  for await (const chunk of child.stdout ?? []) {
    printed += String(chunk)
    if (awaited.test(printed)) break
  }
  return {
    printed,
    async end(): Promise<void> {
      child.kill()
      await exited
    },
  }
}
