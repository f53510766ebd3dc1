import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'

import { manualClock } from '@portcullis/testing'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'

import { createKeyKeeper } from '../../src/serve/key-keeper.ts'
import { createService } from '../../src/serve/service.ts'
import { readConfiguration, settingsOf } from '../../src/serve/settings.ts'

// What an editor says of a configuration by the schema, and what `serve` says of it.

const path = new URL('../../serve.schema.json', import.meta.url)
const schema = JSON.parse(readFileSync(path, 'utf8')) as { properties: object }
const validate = new Ajv({ strict: true, strictTypes: false, strictRequired: false }).compile(
  schema,
)

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

/** Does what `serve --config` does with a file, and no more. */
async function isServed(value: unknown): Promise<boolean> {
  try {
    const settings = settingsOf({}, readConfiguration(value, 'file'))
    const keeper = createKeyKeeper(undefined, () => undefined)
    const service = await createService(settings, manualClock(), key, keeper, fetch)
    for (const fault of settings.faults) service.fault(fault)
    return true
  } catch {
    return false
  }
}

const login = { password: 'a' }
const fault = { endpoint: 'keys', kind: 503 }

test.each<[configuration: object]>([
  [{}],
  [{ $schema: './node_modules/@portcullis/cli/serve.schema.json' }],
  [{ issuer: 'https://auth.test', audience: 'api', lifetime: 0, response: 'json', claims: {} }],
  [{ audience: ['one', 'two'], lifetime: 0.5, response: { field: 'access_token' } }],
  [{ claims: { roles: ['admin'], nested: { any: [null] } } }],
  [{ logins: {} }],
  [{ logins: { ada: login, '': { password: '', claims: { a: 1 }, lifetime: -5 } } }],
  [{ opaque: {} }],
  [{ opaque: { api: { secret: 'a' } } }],
  [{ faults: [{ ...fault, endpoint: 'introspection' }] }],
  [{ faults: [fault, { ...fault, endpoint: 'token', kind: 200, times: 1, seconds: 0 }] }],
  [{ faults: [{ ...fault, kind: 'slow', delay: 86_400 }] }],
  ...['hang', 'reset', 'truncated', 'html', 'empty', 'slow', 'key-set', 'other-key'].map(
    (kind): [object] => [{ faults: [{ ...fault, kind }] }],
  ),
])('both accept %j', async (configuration) => {
  expect([validate(configuration), await isServed(configuration)]).toEqual([true, true])
})

test.each<[configuration: unknown]>([
  [[]],
  [null],
  ['text'],
  [{ login: {} }],
  [{ issuer: '' }],
  [{ issuer: null }],
  [{ audience: [] }],
  [{ audience: [''] }],
  [{ audience: Array.from({ length: 101 }, () => 'a') }],
  [{ lifetime: -1 }],
  [{ lifetime: '300' }],
  [{ lifetime: 1e11 }],
  [{ response: 'xml' }],
  [{ response: {} }],
  [{ response: { field: '' } }],
  [{ response: { field: 'a', other: 1 } }],
  [{ claims: [] }],
  [{ logins: [] }],
  [{ logins: { ada: {} } }],
  [{ logins: { ada: { password: 5 } } }],
  [{ logins: { ada: { ...login, lifetime: '5' } } }],
  [{ logins: { ada: { ...login, role: 'admin' } } }],
  [{ logins: { ada: { ...login, claims: 'a' } } }],
  [{ opaque: [] }],
  [{ opaque: { api: {} } }],
  [{ opaque: { api: { secret: '' } } }],
  [{ opaque: { api: { secret: 'a', role: 'b' } } }],
  [{ faults: {} }],
  [{ faults: Array.from({ length: 101 }, () => fault) }],
  [{ faults: [{ kind: 503 }] }],
  [{ faults: [{ endpoint: 'keys' }] }],
  [{ faults: [{ ...fault, endpoint: 'other' }] }],
  [{ faults: [{ ...fault, kind: 199 }] }],
  [{ faults: [{ ...fault, kind: 600 }] }],
  [{ faults: [{ ...fault, kind: 500.5 }] }],
  [{ faults: [{ ...fault, kind: 'stale-key' }] }],
  [{ faults: [{ ...fault, kind: 'toString' }] }],
  [{ faults: [{ endpoint: 'token', kind: 'key-set' }] }],
  [{ faults: [{ endpoint: 'token', kind: 'other-key' }] }],
  [{ faults: [{ ...fault, delay: 1 }] }],
  [{ faults: [{ ...fault, kind: 'slow', delay: 86_401 }] }],
  [{ faults: [{ ...fault, times: 0 }] }],
  [{ faults: [{ ...fault, times: 1.5 }] }],
  [{ faults: [{ ...fault, seconds: -1 }] }],
  [{ faults: [{ ...fault, until: 5 }] }],
])('both refuse %j', async (configuration) => {
  expect([validate(configuration), await isServed(configuration)]).toEqual([false, false])
})

test('the schema has the members that the configuration may have', () => {
  const known = Object.keys(schema.properties).join(', ')
  expect(() => readConfiguration({ nonsense: 1 }, 'file')).toThrow(`but ${known}`)
})
