import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

import type { TestIssuer } from '@portcullis/testing'

import {
  exampleOf,
  linesForTokenService,
  whatFollows,
  withTokenService,
} from '../../documents/markdown.ts'
import { compressing } from './compressing.ts'
import {
  expectComplaints,
  expectNoFailureOfOthers,
  expectOtherPackages,
  slowServer,
} from './ended-requests.ts'
import {
  expectScopeToOpen,
  expectToolsToBeGuarded,
  expectVerdicts,
  NAMED,
  RESOURCE,
} from './runtime-answers.ts'

// Runs three programs on Bun, on Deno and on workerd, which Cloudflare Workers are made of, from the packed packages: the
// example of core's README for any other framework, as it stands but for the port; `verdicts.ts` of the consumer, which
// must refuse every bad token and every bad proof for the reason that Node has; and `mcp.ts` there. Keys come compressed. `node runtimes.ts FOLDER NAME`,
// in the folder that has them.

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
  /** Code that serves `judge` of a program of the consumer, and is followed by the same. */
  readonly serving: string
  readonly command: (folder: string, file: string) => readonly string[]
}

/** The first with which the packages work, as the documents say. */
const OLDEST_DATE = '2025-04-01'
/** The day of this workerd. With the oldest one, what `@redis/client` imports is not there. */
const NEWEST_DATE = '2026-11-17'

export const RUNTIMES: Readonly<Record<string, Runtime>> = {
  bun: {
    where: 'Bun',
    ending: 'console.log(`port ${server.port}`)\n',
    serving: "const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: judge })\n",
    command: (folder, file) => [join(folder, 'node_modules/runtime-bun/bin/bun'), file],
  },
  deno: {
    where: 'Deno',
    ending: 'console.log(`port ${server.addr.port}`)\n',
    serving: "const server = Deno.serve({ port: 0, hostname: '127.0.0.1' }, judge)\n",
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
    serving: 'export default { fetch: judge }\n',
    command: (folder, file) => [
      join(folder, 'node_modules/runtime-workerd/bin/workerd'),
      'serve',
      file,
      '--control-fd=1',
    ],
  },
}

/** The example and its line, on a free port of the loopback. */
function programOf(markdown: string, { where, ending }: Runtime): string {
  const line = whatFollows(markdown, where)
    .replace('port: 3000', "port: 0, hostname: '127.0.0.1'")
    .replace(/^(?=Bun\.|Deno\.)/, 'const server = ')
  return withTokenService(exampleOf(markdown, 2), linesForTokenService(markdown)) + line + ending
}

/**
 * A worker is one file, and has no registry of packages: it is bundled, as the tools of Cloudflare do.
 *
 * @param name Of what is written, so that several can be there.
 * @returns The file that workerd is started with.
 */
async function prepareWorker(
  folder: string,
  file: string,
  { authUrl, name, date = OLDEST_DATE }: { authUrl: string; name: string; date?: string },
): Promise<string> {
  const worker = `${name}.worker.mjs`
  const rolldown = join(folder, 'node_modules/rolldown/bin/cli.mjs')
  const bundler = spawn(
    process.execPath,
    [rolldown, file, '--file', worker, '--platform', 'node'],
    { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] },
  )
  const [status] = (await once(bundler, 'exit')) as [number | null]
  if (status !== 0) throw new Error('the worker cannot be bundled')
  const bundle = join(folder, worker)
  // As the tools of Cloudflare write it: with older dates a module has no URL.
  const text = readFileSync(bundle, 'utf8').replaceAll('import.meta.url', "'file:///worker.mjs'")
  writeFileSync(bundle, text)
  const config = join(folder, `${name}.capnp`)
  writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker", esModule = embed "${worker}")],
      compatibilityDate = "${date}",
      compatibilityFlags = ["nodejs_compat"],
      bindings = [(name = "AUTH_URL", text = "${authUrl}")],
      globalOutbound = "network")),
    (name = "network", network = (allow = ["private", "public"]))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]);
`,
  )
  return config
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

/** Starts a program on the runtime, and ends it when it has answered. */
async function served(
  { command }: Runtime,
  { folder, file, authUrl }: { folder: string; file: string; authUrl: string },
  ask: (url: string) => Promise<void>,
): Promise<void> {
  const [program = '', ...args] = command(folder, file)
  const child = spawn(program, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, AUTH_URL: authUrl },
  })
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    process.stderr.write(text)
    complaints += text
  })
  const end = once(child, 'close')
  try {
    await ask(`http://127.0.0.1:${await portOf(child)}/`)
  } finally {
    child.kill()
    await end
  }
  // Nobody has asked for it with NODE_DEBUG.
  if (complaints.includes('refused')) throw new Error('it prints a line for each refusal')
}

/** Nothing fails because of a request that has ended, with the oldest date and the newest. All of it waits, so it waits at once. */
async function checkEndedRequests(
  runtime: Runtime,
  folder: string,
  issuer: TestIssuer,
): Promise<void> {
  const starting = async (source: string, authUrl: string, date: string, title: string) => {
    const name = `${source}-${date}-${title}`
    const file = await prepareWorker(folder, join(folder, `${source}.ts`), { authUrl, name, date })
    return async (ask: (url: string) => Promise<void>) => {
      await served(runtime, { folder, file, authUrl }, ask)
    }
  }
  const ways = [OLDEST_DATE, NEWEST_DATE].flatMap((date) =>
    (['outside', 'first'] as const).map(async (made) => {
      await using server = await slowServer(issuer)
      const start = await starting('ended-requests', server.url, date, made)
      if (made === 'outside') {
        await start(expectComplaints)
        await start(expectOtherPackages)
      }
      await expectNoFailureOfOthers(server, issuer, made, start)
    }),
  )
  const kept = async () => {
    const start = await starting('kept-connections', 'http://auth.test', NEWEST_DATE, 'kept')
    await start(expectComplaints)
  }
  await Promise.all([...ways, kept()])
}

async function main(folder: string, name: string): Promise<void> {
  const runtime = RUNTIMES[name]
  if (runtime === undefined) throw new TypeError(`${name} is no runtime`)
  const testing = pathToFileURL(join(folder, 'node_modules/@portcullis/testing/dist/index.js')).href
  const { createTestIssuer, dpopClient, tokenService } = (await import(
    testing
  )) as typeof import('@portcullis/testing')

  const check = async (
    issuer: TestIssuer,
    title: string,
    text: string,
    ask: (url: string) => Promise<void>,
  ) => {
    await using service = await tokenService(issuer).listen()
    await using network = await compressing(service.authUrl)
    const { url: authUrl } = network
    const file = join(folder, `runtime-${name}-${title}.ts`)
    writeFileSync(file, text)
    const program =
      name === 'workerd' ? await prepareWorker(folder, file, { authUrl, name: title }) : file
    await served(runtime, { folder, file: program, authUrl }, ask)
  }

  const readme = readFileSync(join(folder, 'node_modules/@portcullis/core/README.md'), 'utf8')
  const plain = await createTestIssuer()
  await check(plain, 'example', programOf(readme, runtime), async (url) => {
    await expectScopeToOpen(url, plain)
  })
  const sourceOf = (file: string) =>
    readFileSync(join(folder, file), 'utf8') + runtime.serving + runtime.ending
  const named = await createTestIssuer(NAMED)
  const dpop = await dpopClient()
  await check(named, 'verdicts', sourceOf('verdicts.ts'), async (url) => {
    await expectVerdicts(url, named, dpop)
  })
  if (name === 'workerd') await checkEndedRequests(runtime, folder, plain)
  const ofTools = await createTestIssuer({ issuer: NAMED.issuer, audience: RESOURCE })
  await check(ofTools, 'mcp', sourceOf('mcp.ts'), async (url) => {
    await expectToolsToBeGuarded(url, ofTools)
  })
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
