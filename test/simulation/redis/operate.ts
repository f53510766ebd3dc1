import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

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
