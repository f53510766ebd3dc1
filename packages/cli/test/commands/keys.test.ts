import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createTestIssuer, manualClock, tokenService } from '@portcullis/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { createProvider, FAULTS, ISSUER } from '../provider.ts'
import { type Given, type Outcome, runProgram } from '../run-program.ts'

const clock = manualClock()
const issuer = await createTestIssuer({ clock })
const service = tokenService(issuer)

async function shown(args: readonly string[], given: Given = {}): Promise<Outcome> {
  return await runProgram(['keys', ...args], { clock, fetch: service.fetch, ...given })
}

test('a sound key: 0, with what it is and how long it is kept', async () => {
  const { exitCode, stdout, stderr } = await shown([service.keyUrl])
  expect(stdout).toMatch(/answer +200, application\/json/)
  expect(stdout).toMatch(/kept for +\d+ s by this process/)
  expect(stdout).toMatch(/ok {4}key 1 of 1/)
  expect(stdout).toContain(`thumbprint  ${issuer.publicJwk.kid}`)
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
})

test('without a place it is the key of AUTH_URL', async () => {
  const env = { AUTH_URL: new URL('/', service.keyUrl).href }
  expect(await shown([], { env })).toMatchObject({ exitCode: 0 })
})

test('--json is an object with the version of its form', async () => {
  const { stdout } = await shown([service.keyUrl, '--json'])
  expect(JSON.parse(stdout)).toMatchObject({
    schemaVersion: 1,
    keys: service.keyUrl,
    answer: { status: 200 },
    entries: [{ place: 1, kid: issuer.publicJwk.kid, algorithms: ['RS512'] }],
    remarks: [],
  })
})

test.each<[what: string, answer: () => Response, exitCode: number, said: RegExp]>([
  ['no document', () => new Response('', { status: 404 }), 3, /FAIL unreachable: .*404/],
  ['no JSON', () => new Response('<html>'), 1, /FAIL bad_document: the document is not JSON/],
  [
    'a document without end',
    () =>
      new Response(
        new ReadableStream({
          pull: (stream) => {
            stream.enqueue(new Uint8Array(65_536))
          },
        }),
      ),
    1,
    /FAIL bad_document: the document has more than 1048576 bytes/,
  ],
  [
    'metadata of an issuer',
    () => Response.json({ jwks_uri: 'https://auth.test/keys' }),
    1,
    /state --discover and the issuer/,
  ],
  [
    'a clock that differs',
    () =>
      Response.json(issuer.publicJwk, {
        headers: { date: new Date((clock.now() - 90) * 1000).toUTCString() },
      }),
    1,
    /Problem: the clock of the server is (?:90|91) s behind/,
  ],
  [
    'what is called HTML',
    () => Response.json(issuer.publicJwk, { headers: { 'content-type': 'text/html' } }),
    0,
    /Note: the answer is called text\/html/,
  ],
])('%s', async (_, answer, exitCode, said) => {
  const fetch = async () => await Promise.resolve(answer())
  const outcome = await shown(['https://auth.test/keys'], { fetch })
  expect(outcome.stdout.replaceAll(/\s+/g, ' ')).toMatch(said)
  expect(outcome.exitCode).toBe(exitCode)
})

describe('a file', async () => {
  const folder = temporaryFolder(afterAll)
  const path = join(folder, 'key.json')

  test('is looked at as well', async () => {
    await writeFile(path, JSON.stringify((await issuer.privateKeys()).signing))
    const { exitCode, stdout } = await shown([path])
    expect(stdout).toContain('has private members')
    expect(exitCode).toBe(1)
  })

  beforeAll(async () => {
    const { publicKey } = generateKeyPairSync('rsa-pss', { modulusLength: 2048 })
    await writeFile(join(folder, 'pss.pem'), publicKey.export({ type: 'spki', format: 'pem' }))
  })

  test.each<[what: string, args: readonly string[], said: string]>([
    ['that is not there', ['nowhere.json'], 'cannot be read (ENOENT)'],
    ['that is no key', [import.meta.filename], 'neither JSON nor PEM'],
    [
      'with a key of a kind that no token is signed with',
      [join(folder, 'pss.pem')],
      'of type rsa-pss',
    ],
  ])('%s', async (_, args, said) => {
    const { exitCode, stdout, stderr } = await shown(args)
    expect(stderr).toContain(said)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  })
})

test.each<[what: string, args: readonly string[], said: string]>([
  ['no place', [], 'state a URL or a file'],
  ['a URL without https', ['http://a.test/k'], 'must begin with https:'],
  [
    'a name of an algorithm without one',
    [service.keyUrl, '--algorithm-name', 'a'],
    'must be a name',
  ],
])('%s: 2, and what is wrong', async (_, args, said) => {
  const { exitCode, stderr } = await shown(args)
  expect(stderr).toContain(said)
  expect(exitCode).toBe(2)
})

describe('with --discover', async () => {
  const provider = await createProvider(clock)

  test('the metadata, the key URL and the keys: 0', async () => {
    const { exitCode, stdout } = await shown(['--discover', ISSUER], {
      fetch: provider.fetchWith(),
    })
    expect(stdout).toContain(`  metadata    200, ${provider.metadataUrl}\n`)
    expect(stdout).toContain(`  key URL     ${provider.keyUrl}\n`)
    expect(stdout).toMatch(/ok {4}key 1 of 1/)
    expect(exitCode).toBe(0)
  })

  test('--json has them as well', async () => {
    const given = { fetch: provider.fetchWith() }
    const { stdout } = await shown(['--discover', ISSUER, '--json'], given)
    expect(JSON.parse(stdout)).toMatchObject({
      keys: ISSUER,
      discovered: {
        metadata: [{ url: provider.metadataUrl, status: 200 }],
        keyUrl: provider.keyUrl,
      },
      entries: [{ place: 1 }],
    })
  })

  test.each(FAULTS)('metadata or keys %s: that is said', async (_, faults, said, code) => {
    const given = { fetch: provider.fetchWith(faults), env: { AUTH_URL: 'https://auth.test' } }
    const { exitCode, stdout } = await shown(['--discover', ISSUER], given)
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(said)
    expect(exitCode).toBe(code)
  })

  test('and a place beside it: 2', async () => {
    const { exitCode, stderr } = await shown([provider.keyUrl, '--discover', ISSUER])
    expect(stderr).toContain('state one of a place and --discover')
    expect(exitCode).toBe(2)
  })
})
