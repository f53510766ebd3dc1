import { readFileSync } from 'node:fs'

import type { INestApplication } from '@nestjs/common'
import { Test } from '@nestjs/testing'
import { createTestIssuer, tokenService } from '@portcullis/testing'
import request from 'supertest'
import { expect, test } from 'vitest'

import { PortcullisGuard } from '../src/index.ts'
import { AppModule } from './recipes/app.ts'
import { appOfAda } from './recipes/places.ts'
import { Settings } from './recipes/settings.ts'

const name = 'https://auth.example.com'
const audience = 'https://api.example.com'

async function statusesOf(
  app: INestApplication,
  headers: readonly Readonly<Record<string, string>>[],
): Promise<readonly number[]> {
  await app.listen(0, '127.0.0.1')
  try {
    const url = await app.getUrl()
    const statuses = headers.map(
      async (each) => (await request(url).get('/places').set(each)).status,
    )
    return await Promise.all(statuses)
  } finally {
    await app.close()
  }
}

test('forRootAsync end to end: the settings of the application say whose tokens it takes', async () => {
  const issuer = await createTestIssuer({ issuer: name, audience })
  await using service = await tokenService(issuer).listen()
  const testing = await Test.createTestingModule({ imports: [AppModule] })
    .overrideProvider(Settings)
    .useValue({ authUrl: service.url, issuer: name, audience })
    .compile()
  const headers = [
    {},
    await issuer.bearer(),
    await issuer.bearer({ claims: { aud: 'another api' } }),
    await (await createTestIssuer({ issuer: name, audience })).bearer(),
  ]
  expect(await statusesOf(testing.createNestApplication(), headers)).toEqual([401, 200, 401, 401])
})

test('overrideProvider(PortcullisGuard) replaces the guard of the whole application', async () => {
  const app = await appOfAda()
  await app.listen(0, '127.0.0.1')
  const api = request(await app.getUrl())
  const accepted = await api.get('/places/mine').set('authorization', 'Bearer any')
  const without = await api.get('/places/mine')
  await app.close()
  expect([accepted.status, accepted.text]).toEqual([200, '{"of":"ada"}'])
  expect(without.status).toBe(401)
})

test('a guard in its place that lets everything through leaves nobody for @CurrentAuth() to name', async () => {
  const testing = await Test.createTestingModule({ imports: [AppModule] })
    .overrideProvider(PortcullisGuard)
    .useValue({ canActivate: () => true })
    .compile()
  const app = testing.createNestApplication({ logger: false })
  await app.listen(0, '127.0.0.1')
  const api = request(await app.getUrl())
  const statuses = [(await api.get('/places')).status, (await api.get('/places/mine')).status]
  await app.close()
  expect(statuses).toEqual([200, 500])
})

test('overrideGuard(PortcullisGuard) does not', async () => {
  const testing = await Test.createTestingModule({ imports: [AppModule] })
    .overrideGuard(PortcullisGuard)
    .useValue({ canActivate: () => true })
    .compile()
  expect(await statusesOf(testing.createNestApplication(), [{}])).toEqual([401])
})

test.each([
  ['app.ts', /^ {4}PortcullisModule\.forRootAsync\(\{.*?^ {4}\}\),/ms],
  ['places.ts', /^export async function .*?^}/ms],
])('what RECIPES.md shows of %s is what runs here', (file, part) => {
  const source = readFileSync(new URL(`recipes/${file}`, import.meta.url), 'utf8')
  const recipes = readFileSync(new URL('../RECIPES.md', import.meta.url), 'utf8')
  const [shown = 'nothing'] = part.exec(source) ?? []
  expect(recipes).toContain(unindented(shown))
})

function unindented(text: string): string {
  const [indentation = ''] = /^ */.exec(text) ?? []
  return text.replaceAll(new RegExp(`^${indentation}`, 'gm'), '')
}
