import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { createTestIssuer, manualClock, tokenService } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { judgeSettings } from '../../src/doctor/typescript.ts'
import { createProvider, FAULTS, ISSUER } from '../provider.ts'
import { type Given, type Outcome, runProgram } from '../run-program.ts'

const clock = manualClock()
const issuer = await createTestIssuer({ clock })
const service = tokenService(issuer)
const env = { AUTH_URL: new URL('/', service.keyUrl).href }

type Files = Readonly<Record<string, object>>

const engines = { node: '>=20' }
const CORE = { version: '1.0.0', engines }
const EXPRESS = { version: '1.0.0', engines, peerDependencies: { express: '^4.17.0 || ^5.0.0' } }
const SOUND: Files = {
  'node_modules/@portcullis/core/package.json': CORE,
  'node_modules/@portcullis/express/package.json': EXPRESS,
  'node_modules/express/package.json': { version: '5.1.0' },
}

async function unreachable(): Promise<never> {
  return await Promise.reject(new TypeError('down'))
}

async function folderWith(files: Files): Promise<string> {
  const folder = temporaryFolder()
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), JSON.stringify(content))
  }
  return folder
}

async function examined(
  files: Files,
  args: readonly string[] = [],
  given: Given = {},
): Promise<Outcome> {
  const cwd = await folderWith(files)
  return await runProgram(['doctor', ...args], { clock, fetch: service.fetch, cwd, env, ...given })
}

test('what is for tests among its devDependencies: 0, and nothing is said', async () => {
  const manifest = { devDependencies: { '@portcullis/testing': '^1.0.0' } }
  const { exitCode, stdout } = await examined({ ...SOUND, 'package.json': manifest })
  expect(stdout).not.toContain('@portcullis/testing')
  expect(exitCode).toBe(0)
})

test('a service where all is well: 0, with a line for each check', async () => {
  const { exitCode, stdout, stderr } = await examined(SOUND)
  expect(stdout).toMatch(/ok {4}node +\d+\.\d+\.\d+; supported are >=20\n/)
  expect(stdout).toMatch(
    /ok {4}versions +@portcullis\/core@1\.0\.0, @portcullis\/express@1\.0\.0\n/,
  )
  expect(stdout).toMatch(/ok {4}core +1\.0\.0 in /)
  expect(stdout).toMatch(/ok {4}express +5\.1\.0; /)
  expect(stdout).toMatch(/-- {4}typescript +no tsconfig\.json/)
  expect(stdout).toMatch(/ok {4}keys +http[^]*RSA, 2048 bits/)
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
})

test.each<[what: string, files: Files, said: RegExp]>([
  ['no package of ours', {}, /FAIL {2}packages +no @portcullis package/],
  [
    'a Node that is not supported',
    { 'node_modules/@portcullis/core/package.json': { ...CORE, engines: { node: '>=99' } } },
    /FAIL {2}node .*supported are >=99/,
  ],
  [
    'packages of several versions',
    { ...SOUND, 'node_modules/@portcullis/express/package.json': { ...EXPRESS, version: '1.1.0' } },
    /FAIL {2}versions +not all the same/,
  ],
  ...['dependencies', 'optionalDependencies'].map((kind): [string, Files, RegExp] => [
    `what is for tests among its ${kind}`,
    { ...SOUND, 'package.json': { [kind]: { '@portcullis/testing': '^1.0.0' } } },
    /FAIL {2}@portcullis\/testing +among the \w+: it is for tests/,
  ]),
  [
    'no core, which a guard needs: first, and what to install',
    {
      'node_modules/@portcullis/express/package.json': {
        ...EXPRESS,
        peerDependencies: { ...EXPRESS.peerDependencies, '@portcullis/core': '^1.0.0' },
      },
      'node_modules/express/package.json': { version: '5.1.0' },
    },
    /^ {2}FAIL {2}core +not installed, and needed by @portcullis\/express: npm\s+install @portcullis\/core@1\.0\.0/,
  ],
  [
    'two copies of core',
    {
      ...SOUND,
      'node_modules/@portcullis/express/node_modules/@portcullis/core/package.json': CORE,
    },
    /FAIL {2}core +2 copies/,
  ],
  [
    'a framework of another major',
    { ...SOUND, 'node_modules/express/package.json': { version: '3.0.0' } },
    /FAIL {2}express +3\.0\.0; /,
  ],
  [
    'a framework that is not there',
    { 'node_modules/@portcullis/express/package.json': EXPRESS },
    /FAIL {2}express +not installed/,
  ],
])('%s: 1, and what is wrong', async (_, files, said) => {
  const { exitCode, stdout } = await examined(files)
  expect(stdout).toMatch(said)
  expect(exitCode).toBe(1)
})

test('what is private was not installed from a registry, and is not looked at', async () => {
  const kit = { version: '0.0.0', private: true }
  const files = { ...SOUND, 'node_modules/@portcullis/kit/package.json': kit }
  const { exitCode, stdout } = await examined(files)
  expect(stdout).not.toContain('kit')
  expect(exitCode).toBe(0)
})

test('one copy of core behind several links is one copy', async () => {
  const cwd = await folderWith({
    'store/core/package.json': CORE,
    'store/express/package.json': { version: '1.0.0', engines },
  })
  for (const inside of ['node_modules', 'store/express/node_modules']) {
    await mkdir(join(cwd, inside, '@portcullis'), { recursive: true })
    await symlink(join(cwd, 'store/core'), join(cwd, inside, '@portcullis/core'))
  }
  await symlink(join(cwd, 'store/express'), join(cwd, 'node_modules/@portcullis/express'))
  const { exitCode, stdout } = await examined({}, [], { cwd })
  expect(stdout).toMatch(/ok {4}core +1\.0\.0 in store\/core/)
  expect(exitCode).toBe(0)
})

describe('the token service', () => {
  test('that does not answer: 1', async () => {
    const { exitCode, stdout } = await examined(SOUND, [], { fetch: unreachable })
    expect(stdout).toMatch(/FAIL {2}keys +http[^]*failed/)
    expect(exitCode).toBe(1)
  })

  test('whose clock differs: 1', async () => {
    const date = new Date((clock.now() + 600) * 1000).toUTCString()
    const fetch = async () =>
      await Promise.resolve(Response.json(issuer.publicJwk, { headers: { date } }))
    const { exitCode, stdout } = await examined(SOUND, [], { fetch })
    expect(stdout).toMatch(/FAIL {2}keys +the clock of the server/)
    expect(exitCode).toBe(1)
  })

  test('that is not stated is skipped', async () => {
    const { exitCode, stdout } = await examined(SOUND, [], { env: {} })
    expect(stdout).toMatch(/-- {4}keys +AUTH_URL is not set/)
    expect(exitCode).toBe(0)
  })
})

describe('an AUTH_URL that is an issuer', async () => {
  const provider = await createProvider(clock)
  const given = { env: { AUTH_URL: ISSUER } }

  test('what was found, and what to write in code: 0', async () => {
    const fetch = provider.fetchWith()
    const { exitCode, stdout } = await examined(SOUND, [], { ...given, fetch })
    const text = stdout.replaceAll(/\s+/g, ' ')
    expect(text).toContain(
      `ok keys AUTH_URL is an issuer, whose keys are at ${provider.keyUrl}: RSA`,
    )
    expect(text).toContain(
      `note code write createVerifier({ keys: discoverKeys("${ISSUER}"), issuer: "${ISSUER}", audience })`,
    )
    expect(exitCode).toBe(0)
  })

  test('metadata of RFC 8414 will do', async () => {
    const fetch = provider.fetchWith({
      metadata: () => new Response('', { status: 404 }),
      others: () => Response.json({ issuer: ISSUER, jwks_uri: provider.keyUrl }),
    })
    const { exitCode, stdout } = await examined(SOUND, [], { ...given, fetch })
    expect(stdout).toContain('AUTH_URL is an issuer')
    expect(exitCode).toBe(0)
  })

  test.each(FAULTS)('whose metadata or keys are %s: 1, and both are said', async (_, faults) => {
    const fetch = provider.fetchWith(faults)
    const { exitCode, stdout } = await examined(SOUND, [], { ...given, fetch })
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /FAIL keys http\S+: the key URL answered 404; nor is AUTH_URL an issuer with metadata: the /,
    )
    expect(exitCode).toBe(1)
  })

  test('that is the URL of its metadata: 1, and what it must be', async () => {
    const { exitCode, stdout } = await examined(SOUND, [], {
      env: { AUTH_URL: provider.metadataUrl },
      fetch: provider.fetchWith(),
    })
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('the issuer must be without "/.well-known/')
    expect(exitCode).toBe(1)
  })
})

test('--json is an object with the version of its form', async () => {
  const { stdout } = await examined(SOUND, ['--json'])
  expect(JSON.parse(stdout)).toMatchObject({
    schemaVersion: 1,
    checks: expect.arrayContaining([
      expect.objectContaining({ name: 'core', outcome: 'ok' }),
    ]) as unknown,
  })
})

test.each<[version: string, settings: Record<string, string>, isModule: boolean, outcome: string]>([
  ['7.0.2', { module: 'nodenext' }, false, 'ok'],
  ['7.0.2', {}, false, 'ok'],
  ['5.9.3', { module: 'node16' }, true, 'ok'],
  ['5.9.3', { module: 'node16' }, false, 'problem'],
  ['6.0.3', { module: 'node18' }, false, 'problem'],
  ['5.9.3', { module: 'esnext', moduleResolution: 'classic' }, true, 'problem'],
  ['5.4.0', { module: 'nodenext' }, true, 'note'],
])('TypeScript %s with %j, ES modules %s: %s', (version, settings, isModule, outcome) => {
  expect(judgeSettings(version, settings, isModule).outcome).toBe(outcome)
})

test('the settings are those of the compiler of the folder, with what they extend', async () => {
  const cwd = await folderWith({
    ...SOUND,
    'base.json': { compilerOptions: { module: 'nodenext' } },
    'tsconfig.json': { extends: './base.json', files: ['a.ts'] },
    'a.ts': {},
  })
  const compiler = join(import.meta.dirname, '../../../../node_modules/typescript')
  await symlink(compiler, join(cwd, 'node_modules/typescript'))
  const { stdout } = await examined({}, [], { cwd })
  expect(stdout).toMatch(/ok {4}typescript +\d+\.\d+\.\d+, module nodenext/)
})
