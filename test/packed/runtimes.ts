import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

import { exampleOf, whatFollows } from '../documents/markdown.ts'

// Runs the example of core's README for any other framework on Bun, on Deno and on workerd, which Cloudflare Workers are made
// of, from the packed packages: as it stands, but for the port. `node runtimes.ts FOLDER NAME`, in the folder that has them.

/** Packages without install scripts. */
export const RUNTIME_PACKAGES: Readonly<Record<string, string>> = {
  'runtime-bun': 'npm:@oven/bun-linux-x64@1.4.4',
  'runtime-deno': 'npm:@deno/linux-x64-glibc@2.9.6',
  'runtime-workerd': 'npm:@cloudflare/workerd-linux-64@1.20261117.1',
  rolldown: '1.2.19',
}

interface Runtime {
  /** Its row in the README. */
  readonly where: string
  /** Code behind the example, which prints the port. */
  readonly ending: string
  readonly command: (folder: string, file: string) => readonly string[]
}

const WORKER_BUNDLE = 'worker.bundle.mjs'

export const RUNTIMES: Readonly<Record<string, Runtime>> = {
  bun: {
    where: 'Bun',
    ending: 'console.log(`port ${server.port}`)\n',
    command: (folder, file) => [join(folder, 'node_modules/runtime-bun/bin/bun'), file],
  },
  deno: {
    where: 'Deno',
    ending: 'console.log(`port ${server.addr.port}`)\n',
    command: (folder, file) => [
      join(folder, 'node_modules/runtime-deno/deno'),
      'run',
      '--allow-net',
      '--allow-env',
      file,
    ],
  },
  workerd: {
    where: 'Cloudflare Workers',
    ending: '',
    command: (folder) => [
      join(folder, 'node_modules/runtime-workerd/bin/workerd'),
      'serve',
      join(folder, 'worker.capnp'),
      '--control-fd=1',
    ],
  },
}

/** The example and its line, on a free port of the loopback. */
function programOf(markdown: string, { where, ending }: Runtime): string {
  const line = whatFollows(markdown, where)
    .replace('port: 3000', "port: 0, hostname: '127.0.0.1'")
    .replace(/^(?=Bun\.|Deno\.)/, 'const server = ')
  return exampleOf(markdown, 1) + line + ending
}

/** A worker is one file, and has no registry of packages: it is bundled, as the tools of Cloudflare do. */
async function prepareWorker(folder: string, file: string, authUrl: string): Promise<void> {
  const rolldown = join(folder, 'node_modules/rolldown/bin/cli.mjs')
  const bundler = spawn(
    process.execPath,
    [rolldown, file, '--file', WORKER_BUNDLE, '--platform', 'node'],
    { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] },
  )
  const [status] = (await once(bundler, 'exit')) as [number | null]
  if (status !== 0) throw new Error('the worker cannot be bundled')
  writeFileSync(
    join(folder, 'worker.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker", esModule = embed "${WORKER_BUNDLE}")],
      compatibilityDate = "2026-01-01",
      compatibilityFlags = ["nodejs_compat"],
      bindings = [(name = "AUTH_URL", text = "${authUrl}")],
      globalOutbound = "network")),
    (name = "network", network = (allow = ["private", "public"]))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]);
`,
  )
}

async function portOf(child: ChildProcess): Promise<number> {
  const { stdout } = child
  if (stdout === null) throw new Error('the program has no output')
  let text = ''
  for await (const chunk of stdout.setEncoding('utf8') as AsyncIterable<string>) {
    text += chunk
    const [, port] =
      /^port (\d+)$|"port":\s*(\d+)/m.exec(text)?.filter((each) => each !== undefined) ?? []
    if (port !== undefined) return Number(port)
  }
  throw new Error(`it ended without a port: ${text}`)
}

interface Issuer {
  bearer(options?: object): Promise<{ authorization: string }>
  rotate(): Promise<unknown>
}

/** What a stranger, a user without the scope and one with it get, also of a new key. */
async function expectScopeToOpen(url: string, issuer: Issuer): Promise<void> {
  const allowed = async () =>
    await issuer.bearer({ claims: { sub: 'ada', scope: 'locations:write' } })
  const good = await allowed()
  const answers: [title: string, init: RequestInit, expected: string][] = [
    ['no token', {}, '401 An access token is required'],
    ['a good one', { headers: good, method: 'POST', body: 'unread' }, '200 {"savedBy":"ada"}'],
    ['the same again', { headers: good }, '200 {"savedBy":"ada"}'],
    [
      'one without the scope',
      { headers: await issuer.bearer() },
      '403 The access token lacks a required scope',
    ],
    [
      'a bad one',
      { headers: { authorization: 'Bearer a.b.c' } },
      '401 The access token is not valid',
    ],
    ['HEAD without a token', { method: 'HEAD' }, '401 '],
    [
      'repeated headers',
      {
        headers: [
          ['authorization', 'Basic YTpi'],
          ['authorization', good.authorization],
        ],
      },
      '400 The Authorization header must be Bearer, a space and one token',
    ],
  ]
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      await expectAnswer(url, 'many at once', { headers: await allowed() }, '200 {"savedBy":"ada"}')
    }),
  )
  for (const [title, init, expected] of answers) await expectAnswer(url, title, init, expected)
  await issuer.rotate()
  await expectAnswer(url, 'a new key', { headers: await allowed() }, '200 {"savedBy":"ada"}')
}

async function expectAnswer(
  url: string,
  title: string,
  init: RequestInit,
  expected: string,
): Promise<void> {
  const response = await fetch(url, init)
  const seen = `${response.status} ${await response.text()}`
  if (seen !== expected) throw new Error(`${title}: ${seen}, not ${expected}`)
}

async function main(folder: string, name: string): Promise<void> {
  const runtime = RUNTIMES[name]
  if (runtime === undefined) throw new TypeError(`${name} is no runtime`)
  const testing = pathToFileURL(join(folder, 'node_modules/@portcullis/testing/dist/index.js')).href
  const { createTestIssuer, tokenService } = (await import(
    testing
  )) as typeof import('@portcullis/testing')
  const issuer = await createTestIssuer()
  await using service = await tokenService(issuer).listen()
  const file = join(folder, `runtime-${name}.ts`)
  const core = join(folder, 'node_modules/@portcullis/core/README.md')
  writeFileSync(file, programOf(readFileSync(core, 'utf8'), runtime))
  if (name === 'workerd') await prepareWorker(folder, file, service.authUrl)
  const [program = '', ...args] = runtime.command(folder, file)
  const child = spawn(program, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, AUTH_URL: service.authUrl },
  })
  try {
    await expectScopeToOpen(`http://127.0.0.1:${await portOf(child)}/`, issuer)
  } finally {
    child.kill()
  }
}

const [, program, folder, name] = process.argv
if (
  program !== undefined &&
  resolve(program) === fileURLToPath(import.meta.url) &&
  folder !== undefined &&
  name !== undefined
) {
  await main(folder, name)
}
