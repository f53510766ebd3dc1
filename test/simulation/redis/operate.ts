import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

import { run } from '../../../packages/redis/src/program/program.ts'
import { redisTransport } from '../../../packages/redis/src/store/redis-transport.ts'
import type { RedisServer } from './redis-server.ts'

export interface Outcome {
  readonly exitCode: number | null
  readonly printed: string
  readonly said: string
}

export const OPERATOR = fileURLToPath(
  new URL('../../../packages/redis/src/bin.ts', import.meta.url),
)

/** Runs `portcullis-revocations` as a process. */
export async function operate(url: string, ...args: readonly string[]): Promise<Outcome> {
  const options = ['--conditions=@portcullis/source', OPERATOR, ...args]
  const child = spawn(process.execPath, options, {
    env: { ...process.env, REDIS_URL: url },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit') as Promise<[number | null]>
  const [printed, said, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    exited,
  ])
  return { exitCode, printed, said }
}

interface Told {
  readonly code: number
  readonly printed: readonly string[]
  readonly said: string
  /** What the first line that is printed says. */
  readonly data: Readonly<Record<string, unknown>>
}

/** The same in this process: it starts at once, also on a busy machine. */
export async function operateHere(
  server: RedisServer,
  command: string,
  input: readonly string[] = [],
): Promise<Told> {
  const printed: string[] = []
  const said: string[] = []
  const code = await run(command.split(' '), {
    environment: { REDIS_URL: server.url },
    connect: (source) => redisTransport(source),
    input: Readable.from(input),
    print: (line) => printed.push(line),
    say: (line) => said.push(line),
  })
  const data = JSON.parse(printed[0] ?? '{}') as Readonly<Record<string, unknown>>
  return { code, printed, said: said.join('\n'), data }
}
