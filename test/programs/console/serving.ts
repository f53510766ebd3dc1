import { EventEmitter, once } from 'node:events'

import { manualClock } from '@portcullis/testing'

import { run } from '../../../packages/cli/src/program/program.ts'

/** `portcullis serve` in this process, on a free port, with a clock of its own. */
export interface Serving extends AsyncDisposable {
  readonly url: string
  readonly clock: ReturnType<typeof manualClock>
  /** Asks the control interface, as the commands do. */
  readonly control: (operation: string, body?: object) => Promise<Record<string, unknown>>
  /** Logs in, with a client that calls itself so. */
  readonly logIn: (loginId: string, password: string, userAgent?: string) => Promise<Response>
  readonly fetchKeys: (userAgent?: string) => Promise<Response>
}

/** 2026-11-21T08:00:00Z */
const START = 1_795_248_000

/** @param secret What the control interface demands, with a `--host` that others can reach. */
export async function serving(args: readonly string[] = [], secret = ''): Promise<Serving> {
  const clock = manualClock(START)
  const interrupted = new AbortController()
  const output = new EventEmitter()
  const heard = once(output, 'line').then(([line]) => String(line))
  let said = ''
  const ended = run({
    args: ['serve', '--port', '0', ...args],
    env: { PORTCULLIS_SECRET: secret },
    cwd: import.meta.dirname,
    stdin: (async function* () {})(),
    stdout: { write: (text) => output.emit('line', text) },
    stderr: { write: (text) => (said += text) },
    fetch: globalThis.fetch,
    clock,
    signal: interrupted.signal,
  })
  const line = await Promise.race([heard, ended.then(() => undefined)])
  if (line === undefined) throw new Error(said)
  const url = line.trim()
  return {
    url,
    clock,
    async control(operation, body = {}) {
      const response = await fetch(`${url}/control/${operation}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
        body: JSON.stringify(body),
      })
      if (!response.ok) throw new Error(await response.text())
      return (await response.json()) as Record<string, unknown>
    },
    logIn: async (loginId, password, userAgent = 'shop/2.1') =>
      await fetch(`${url}/tokenservice/token/api`, {
        method: 'POST',
        headers: { 'user-agent': userAgent },
        body: new URLSearchParams({ loginId, password }),
      }),
    fetchKeys: async (userAgent = 'orders-api/1.0') =>
      await fetch(`${url}/tokenservice/pubkey.json`, { headers: { 'user-agent': userAgent } }),
    async [Symbol.asyncDispose]() {
      interrupted.abort()
      await ended
    },
  }
}
