import { EventEmitter, once } from 'node:events'

import { systemClock } from '@portcullis/kit/time'

import { run } from '../src/program/program.ts'
import { runProgram } from './run-program.ts'

/** Runs `serve` in this process on a free port, until it is disposed of. */
export async function serving(args: readonly string[] = [], env: Record<string, string> = {}) {
  const interrupted = new AbortController()
  const written = { stdout: '', stderr: '' }
  const output = new EventEmitter()
  const heard = once(output, 'line').then(([line]) => String(line))
  const ended = run({
    args: ['serve', '--port', '0', ...args],
    env,
    cwd: import.meta.dirname,
    stdin: (async function* () {})(),
    stdout: {
      write(text) {
        written.stdout += text
        output.emit('line', text)
      },
    },
    stderr: { write: (text) => (written.stderr += text) },
    fetch: globalThis.fetch,
    clock: systemClock,
    signal: interrupted.signal,
  })
  const first = await Promise.race([heard, ended.then(() => undefined)])
  if (first === undefined) throw new Error(written.stderr)
  const line = first.trim()
  const url = line.startsWith('{') ? (JSON.parse(line) as { authUrl: string }).authUrl : line
  async function end(): Promise<number> {
    interrupted.abort()
    return await ended
  }
  /** Another command, which talks to this service. */
  const command = async (...words: string[]) =>
    await runProgram(words, {
      env: { PORTCULLIS_URL: url, ...env },
      fetch: globalThis.fetch,
      clock: systemClock,
    })
  /** What no command does. */
  const control = async (operation: string) =>
    await fetch(`${url}/control/${operation}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
  const logIn = async (loginId: string, password: string) =>
    await fetch(`${url}/tokenservice/token/api`, {
      method: 'POST',
      body: new URLSearchParams({ loginId, password }),
    })
  return {
    url,
    written,
    end,
    command,
    control,
    logIn,
    [Symbol.asyncDispose]: async () => void (await end()),
  }
}
