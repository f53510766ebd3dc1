import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

// What a user of the packed packages does in a folder: programs begin, and are asked.

export interface Running {
  readonly url: string
  /** Sends a signal, and answers with the exit code. */
  end(signal: 'SIGINT' | 'SIGTERM'): Promise<number | null>
}

/** All, or one in four. */
export type Reasons = 'each' | 'some'

/** What the user has: an empty folder at first, the service and the app later. */
export interface Session {
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  /** How many of the reasons why a token is bad are looked at. */
  readonly reasons: Reasons
  readonly children: ChildProcess[]
  service: Running
  app: Running
}

export function installed(folder: string, program: string): string {
  return join(folder, 'node_modules', '.bin', program)
}

export async function importedFrom(folder: string, name: string): Promise<unknown> {
  return await import(pathToFileURL(join(folder, 'node_modules', name, 'dist', 'index.js')).href)
}

/** Starts a program that prints its URL, or its port, first. */
export async function start(session: Session, [program = '', ...args]: string[]): Promise<Running> {
  const { folder, env, children } = session
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] })
  children.push(child)
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const first = line.toString().trim()
  return {
    url: /^\d+$/.test(first) ? `http://127.0.0.1:${first}` : first,
    async end(signal) {
      child.kill(signal)
      await once(child, 'exit')
      return child.exitCode
    },
  }
}

export async function startApp(session: Session, port: string): Promise<Running> {
  session.env['PORT'] = port
  return await start(session, ['node', 'app.mjs'])
}

/** @throws Error with what it says, if it fails. */
export async function run({ folder, env }: Session, program: string, args: readonly string[]) {
  const { stdout } = await promisify(execFile)(program, args, { cwd: folder, env })
  return stdout.trimEnd()
}

export async function portcullis(session: Session, words: readonly string[]): Promise<string> {
  return await run(session, installed(session.folder, 'portcullis'), words)
}

export async function logIn(session: Session): Promise<string> {
  const form = ['-d', 'loginId=demo', '-d', 'password=demo']
  return await curl(...form, `${session.service.url}/tokenservice/token/api`)
}

export async function loginsIn(session: Session): Promise<number> {
  const log = await portcullis(session, ['log'])
  return log.split('\n').filter((line) => line.includes('token  200')).length
}

export async function curl(...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)('curl', ['-s', ...args])).stdout
}

export async function call({ app }: Session, token: string): Promise<Response> {
  return await fetch(app.url, { headers: { authorization: `Bearer ${token}` } })
}
