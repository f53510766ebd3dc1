import { createTestIssuer, manualClock, tokenService } from '@portcullis/testing'
import request from 'supertest'
import { afterAll, expect, test } from 'vitest'

import { createApi, type Tenant } from '../src/api.ts'

const audience = 'https://api.example.com'
const [acme, globex] = await Promise.all([
  createTestIssuer({ issuer: 'https://acme.example', audience }),
  createTestIssuer({ issuer: 'https://globex.example', audience }),
])
const services = await Promise.all(
  [acme, globex].map(async (issuer) => await tokenService(issuer).listen()),
)
afterAll(async () => {
  await Promise.all(services.map(async (service) => await service.close()))
})

const claims = { sub: '1', scope: 'notes' }
const table = new Map<string, Tenant>()
const clock = manualClock()
const app = createApi(async (issuer) => table.get(issuer), { clock })

function create(issuer: string, at: number): void {
  table.set(issuer, { issuer, keyUrl: services[at]?.keyUrl ?? '' })
}

/** The status, and the notes that are listed. */
async function list(bearer: object): Promise<readonly unknown[]> {
  const response = await request(app)
    .get('/notes')
    .set({ ...bearer })
  return response.status === 200
    ? [200, ...(JSON.parse(response.text) as string[])]
    : [response.status]
}

test('tenants come and go, and none sees what is of another', async () => {
  create('https://acme.example', 0)
  const [ofAcme, ofGlobex] = await Promise.all([acme.bearer({ claims }), globex.bearer({ claims })])
  await request(app).post('/notes').type('text').set(ofAcme).send('buy milk').expect(204)
  expect(await list(ofAcme)).toEqual([200, 'buy milk'])
  expect(await list(ofGlobex)).toEqual([401])

  create('https://globex.example', 1)
  await clock.advance(60) // an issuer that was not found is looked up again
  expect(await list(ofGlobex)).toEqual([200]) // the same `sub`, of another issuer

  table.delete('https://acme.example')
  await clock.advance(600) // so is one that was found
  expect(await list(ofAcme)).toEqual([401])
  expect(await list(ofGlobex)).toEqual([200])
})

test('tokens that name nobody share no notes: they are refused', async () => {
  create('https://acme.example', 0)
  await clock.advance(600)
  expect(await list(await acme.bearer({ claims: { scope: 'notes' } }))).toEqual([401])
})

test('a token of one tenant that names another is refused', async () => {
  create('https://acme.example', 0)
  create('https://globex.example', 1)
  await clock.advance(600)
  const forged = await acme.bearer({ claims: { ...claims, iss: 'https://globex.example' } })
  expect(await list(forged)).toEqual([401])
})

test('an outage of one tenant is not that of others', async () => {
  const issuer = 'https://down.example'
  table.set(issuer, { issuer, keyUrl: `${services[0]?.keyUrl}/nowhere` })
  const [ofDown, ofGlobex] = await Promise.all([
    acme.bearer({ claims: { ...claims, iss: issuer } }),
    globex.bearer({ claims }),
  ])
  expect(await list(ofDown)).toEqual([503])
  expect(await list(ofGlobex)).toEqual([200])
})
