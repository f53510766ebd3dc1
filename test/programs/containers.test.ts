import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { systemClock } from '@portcullis/kit/time'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

import { run } from '../../packages/cli/src/program/program.ts'
import { temporaryFolder } from '../temporary-folder.ts'

// The container of the token service, without containers: what its files say is compared with the program, and run by it.

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, 'examples/containers')
const read = (path: string) => readFileSync(join(folder, path), 'utf8')
const { name, bin, engines } = JSON.parse(
  readFileSync(join(root, 'packages/cli/package.json'), 'utf8'),
) as { name: string; bin: object; engines: { node: string } }

interface Compose {
  readonly services: Readonly<
    Record<
      'tokens' | 'api' | 'redis',
      {
        readonly build?: string
        readonly command?: readonly string[]
        readonly environment?: Readonly<Record<string, string>>
        readonly volumes?: readonly string[]
        readonly ports?: readonly string[]
        readonly network_mode?: string
        readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
        readonly healthcheck?: object
      }
    >
  >
  readonly volumes: Readonly<Record<string, unknown>>
}

const compose = parse(read('compose.yaml')) as Compose
const { tokens, api, redis } = compose.services

const dockerfile = read('Dockerfile')
const wordsOf = (pattern: RegExp) =>
  JSON.parse(pattern.exec(dockerfile)?.[1] ?? '[]') as readonly string[]
const entry = wordsOf(/^ENTRYPOINT (.*)$/m)
const command = wordsOf(/^CMD (.*)$/m)
const health = wordsOf(/^HEALTHCHECK .*CMD (.*)$/m)
const exposed = Number(/^EXPOSE (\d+)$/m.exec(dockerfile)?.[1])

/** Runs the program until the test ends it, or it ends by itself. */
function program(args: readonly string[], env: Record<string, string> = {}) {
  const interrupted = new AbortController()
  const written: string[] = []
  const write = (text: string) => void written.push(text)
  const ended = run({
    args,
    env,
    cwd: folder,
    stdin: (async function* () {})(),
    stdout: { write },
    stderr: { write },
    fetch: globalThis.fetch,
    clock: systemClock,
    signal: interrupted.signal,
  })
  const end = async () => {
    interrupted.abort()
    return await ended
  }
  return { written, ended, end }
}

describe('the Dockerfile', () => {
  test('installs this package, on a Node that it takes, and starts its program', () => {
    expect(dockerfile).toContain(`npm install --global ${name} `)
    expect(Object.keys(bin)).toEqual(entry)
    expect(health[0]).toBe(entry[0])
    const [, major] = /^FROM node:(\d+)-/m.exec(dockerfile) ?? []
    expect(engines.node).toContain(`>=${major}`)
  })

  test('exposes the port on which serve listens by default', async () => {
    const { written, ended } = program(['serve', '--help'])
    expect(await ended).toBe(0)
    expect(written.join('')).toMatch(new RegExp(`--port .*\\(default:\\s+${exposed}\\)`, 's'))
  })

  test('keeps the keys in its volume, which belongs to its user', () => {
    const [, volume = '-'] = /^VOLUME (.*)$/m.exec(dockerfile) ?? []
    const privateKeyFile = command[command.indexOf('--private-key-file') + 1]
    expect(privateKeyFile?.startsWith(`${volume}/`)).toBe(true)
    const [, user = '-'] = /^USER (.*)$/m.exec(dockerfile) ?? []
    expect(dockerfile).toContain(`chown ${user}:${user} ${volume}`)
  })
})

test.each([
  ['the Dockerfile', command],
  ['compose.yaml', tokens.command ?? []],
])('the command of %s serves, and its health check says so', async (_file, args) => {
  const paths: Record<string, string> = {
    '/keys': temporaryFolder(),
    '/etc/portcullis': folder,
  }
  const here = args.map((word) => {
    const place = Object.keys(paths).find((each) => word.startsWith(`${each}/`))
    return place === undefined ? word : word.replace(place, paths[place] ?? '')
  })
  const env = { PORTCULLIS_SECRET: 'secret-of-the-test' }
  const { written, end } = program([...here, '--port', '0'], env)
  await expect.poll(() => written.find((text) => text.startsWith('http://'))).toBeDefined()
  const url = written.find((text) => text.startsWith('http://'))?.trim() ?? ''
  // As in the container, which has no other address of it than the default.
  const asked = program(health.slice(1), { PORTCULLIS_URL: url })
  expect([await asked.ended, asked.written]).toEqual([0, []])
  expect(await program(['rotate'], { PORTCULLIS_URL: url, ...env }).ended).toBe(0)
  expect(await end()).toBe(0)
})

describe('compose.yaml', () => {
  test('builds from here, and mounts files and volumes that there are', () => {
    expect(existsSync(join(folder, tokens.build ?? '-', 'Dockerfile'))).toBe(true)
    const [keys = '', configuration = ''] = tokens.volumes ?? []
    expect(Object.keys(compose.volumes)).toEqual([keys.split(':')[0]])
    expect(tokens.command).toContain(`${keys.split(':')[1]}/keys.json`)
    const [file = '-', inside] = configuration.split(':')
    expect(existsSync(join(folder, file))).toBe(true)
    expect(tokens.command).toContain(inside)
  })

  test('publishes the ports on this machine alone, and tells the API where the service is', () => {
    expect(tokens.ports?.map((port) => port.split(':'))).toEqual([
      ['127.0.0.1', String(exposed), String(exposed)],
      ['127.0.0.1', '3000', '3000'],
    ])
    expect(api.network_mode).toBe('service:tokens')
    expect(api.environment?.['AUTH_URL']).toBe(`http://127.0.0.1:${exposed}`)
    expect(api.environment?.['REDIS_URL']).toBe('redis://redis:6379')
    // Without a default: whoever knows the secret can use the control interface.
    expect(tokens.environment?.['PORTCULLIS_SECRET']).toMatch(/^\$\{PORTCULLIS_SECRET:\?/)
  })

  test('starts the API when all that it needs is healthy', () => {
    expect(api.depends_on).toEqual({
      tokens: { condition: 'service_healthy' },
      redis: { condition: 'service_healthy' },
    })
    expect(health).not.toEqual([])
    expect(redis.healthcheck).toBeDefined()
  })
})
