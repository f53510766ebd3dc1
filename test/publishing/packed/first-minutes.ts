import { equal, match, ok, rejects } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFileSync, globSync, mkdirSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { setInterval } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { type Report, succeeds } from './report.ts'
import {
  call,
  curl,
  importedFrom,
  installed,
  logIn,
  loginsIn,
  portcullis,
  type Reasons,
  run,
  type Running,
  type Session,
  start,
  startApp,
} from './session.ts'

// The first ten minutes of a new user, with what would be published, as tarballs or from a registry: `npm install` in an empty
// folder, the token service and an Express app of ten lines as processes, curl, and the commands.

/** What the user installs, and what that needs of ours. */
const PACKAGES = ['cli', 'client', 'core', 'express', 'introspection', 'redis', 'testing']

const here = dirname(fileURLToPath(import.meta.url))

interface FirstMinutes {
  readonly folder: string
  /** What `npm install` takes for a package. */
  readonly placeOf: (name: string) => string
  /** Runs the service, the app and the commands. */
  readonly node: string
  readonly reasons: Reasons
  readonly env?: NodeJS.ProcessEnv
}

export async function checkFirstMinutes(
  { folder, placeOf, node, reasons, env }: FirstMinutes,
  report: Report,
): Promise<void> {
  const program = join(here, 'first-minutes.ts')
  const places = PACKAGES.map((name) => placeOf(`@portcullis/${name}`))
  const command = [process.execPath, program, folder, node, reasons, ...places]
  await report.check('the first ten minutes of a new user', command, here, succeeds, env)
}

type Step = (session: Session) => Promise<void>

const steps: Readonly<Record<string, Step>> = {
  'npm has installed core once': async ({ folder }) => {
    const copies = globSync('node_modules/**/@portcullis/core/package.json', { cwd: folder })
    equal(copies.join(), 'node_modules/@portcullis/core/package.json')
    await Promise.resolve()
  },

  'portcullis serve begins, and npx finds it': async (session) => {
    const { folder, env } = session
    session.service = await start(session, [installed(folder, 'portcullis'), 'serve', '-p', '0'])
    env['AUTH_URL'] = session.service.url
    env['PORTCULLIS_URL'] = session.service.url
    await run(session, 'npx', ['--no', '@portcullis/cli', 'health'])
  },

  'curl shows the key, and explain says ACCEPTED of a login': async (session) => {
    const key: unknown = JSON.parse(await curl(`${session.service.url}/tokenservice/pubkey.json`))
    equal(Reflect.get(Object(key) as object, 'alg'), 'RS512')
    session.env['TOKEN'] = await logIn(session)
    match(await portcullis(session, ['explain', '--env', 'TOKEN']), /^ACCEPTED/)
  },

  'an Express app of ten lines answers 401 without a token, and 200 with one': async (session) => {
    session.app = await startApp(session, '0')
    match(await curl('-i', session.app.url), /^HTTP\/1\.1 401 .*www-authenticate: Bearer/is)
    const header = `Authorization: Bearer ${await logIn(session)}`
    equal(await curl('-H', header, session.app.url), '{"hello":"demo"}')
  },

  'after a rotation it accepts the new token at the first try': async (session) => {
    await portcullis(session, ['rotate'])
    equal((await call(session, await portcullis(session, ['mint']))).status, 200)
  },

  'after a roll-back it does so again': async (session) => {
    const json = ['-H', 'content-type: application/json', '-d', '{}']
    await curl(...json, `${session.service.url}/control/rollback`)
    // As if some seconds had passed: a token of a key that left a moment ago may be one from before.
    const iat = Math.floor(Date.now() / 1000) + 10
    const token = await portcullis(session, ['mint', '--claim', `iat=${iat}`])
    equal((await call(session, token)).status, 200)
  },

  // Not before the rotations: so many forged tokens at once use up what an app may ask because of suspicious ones.
  'of bad tokens, its answer is the one that explain names': expectAgreement,

  'with the key endpoint at 503 it goes on': async (session) => {
    await portcullis(session, ['fault', 'keys', '503'])
    equal((await call(session, await logIn(session))).status, 200)
  },

  'a new process of it answers 503 with Retry-After, until the fault ends': async (session) => {
    const token = await logIn(session)
    await session.app.end('SIGTERM')
    session.app = await startApp(session, new URL(session.app.url).port)
    const response = await call(session, token)
    equal(response.status, 503)
    match(response.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
    await portcullis(session, ['fault', 'clear'])
    for await (const _ of setInterval(200, undefined, { signal: AbortSignal.timeout(100_000) })) {
      if ((await call(session, token)).status === 200) return
    }
  },

  'twenty calls of a client at once cost one login': async (session) => {
    const { folder, app, service } = session
    const { createTokenClient } = (await importedFrom(
      folder,
      '@portcullis/client',
    )) as typeof import('@portcullis/client')
    const before = await loginsIn(session)
    await using client = createTokenClient({
      authUrl: service.url,
      loginId: 'demo',
      password: 'demo',
      origins: [app.url],
    })
    const calls = Array.from({ length: 20 }, async () => (await client.fetch(app.url)).status)
    ok((await Promise.all(calls)).every((status) => status === 200))
    equal(await loginsIn(session), before + 1)
  },

  'Ctrl-C ends the service with 0, and a command says that nothing answers': async (session) => {
    equal(await session.service.end('SIGINT'), 0)
    await rejects(portcullis(session, ['rotate']), /is `portcullis serve` running\?/)
  },
}

/** Of one kind for each reason, since each takes two processes: test/hostile/attacks/explain.test.ts proves it of every kind. */
async function expectAgreement(session: Session): Promise<void> {
  const lines = (await portcullis(session, ['mint', '--kinds'])).split('\n')
  ok(lines.length > 40)
  const kinds = new Map(lines.map((line) => [line.slice(0, 18), line.slice(18)]))
  ok(kinds.size > 10)
  const { reasons } = session
  const waiting = [...kinds.values()].filter((_, at) => reasons === 'each' || at % 4 === 0).values()
  // Each is a process of its own, so a few run at once.
  const several = Array.from({ length: 4 }, async () => {
    for (const kind of waiting) await expectAgreementAbout(session, kind)
  })
  await Promise.all(several)
}

async function expectAgreementAbout(session: Session, kind: string): Promise<void> {
  const token = await portcullis(session, ['mint', '--bad', kind])
  const judged = { ...session, env: { ...session.env, TOKEN: token } }
  // A token that is refused ends with 1.
  const explained = portcullis(judged, ['explain', '--json', '--env', 'TOKEN'])
  const { code, stdout } = (await explained.catch((error: unknown) => error)) as {
    code: unknown
    stdout: string
  }
  equal(code, 1, kind)
  const { refusal } = JSON.parse(stdout) as {
    refusal: { status: number; headers: Record<string, string> }
  }
  const { status, headers } = await call(session, token)
  // Node itself answers what is too large for a header.
  const named =
    kind === 'too large' ? [431, ''] : [refusal.status, refusal.headers['WWW-Authenticate'] ?? '']
  const answer = [status, headers.get('www-authenticate') ?? '']
  equal(`${kind}: ${answer.join(' ')}`, `${kind}: ${named.join(' ')}`)
}

async function main(
  folder: string,
  node: string,
  reasons: Reasons,
  places: readonly string[],
): Promise<void> {
  mkdirSync(folder)
  const install = ['install', '--no-audit', '--no-fund', ...places, 'express@5.3.0']
  await promisify(execFile)('npm', install, { cwd: folder })
  copyFileSync(join(here, 'consumer', 'first-minutes.mjs'), join(folder, 'app.mjs'))
  const nowhere: Running = { url: '', end: async () => await Promise.resolve(null) }
  const session: Session = {
    folder,
    env: {
      ...process.env,
      PATH: [dirname(node), process.env['PATH']].join(delimiter),
    },
    reasons,
    children: [],
    service: nowhere,
    app: nowhere,
  }
  try {
    for (const [title, step] of Object.entries(steps)) {
      console.log(title)
      await step(session)
    }
  } finally {
    for (const child of session.children) child.kill('SIGKILL')
  }
}

const [, program, folder, node, reasons, ...places] = process.argv
if (
  program !== undefined &&
  resolve(program) === fileURLToPath(import.meta.url) &&
  folder !== undefined &&
  node !== undefined &&
  (reasons === 'each' || reasons === 'some')
) {
  await main(folder, node, reasons, places)
}
