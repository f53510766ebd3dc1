import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { adapters } from '../../frameworks/contract/frameworks/index.ts'

// V8 14.6 (Node 26) corrupts its memory when it parses JSON of some thousand levels that ends too early. The process ends then or
// later, so each program here is a process of its own.

test.each(adapters)(
  '$folder survives thousands of headers, payloads and proofs of thousands of levels, and still answers',
  { timeout: 120_000 },
  async ({ folder, frameworks }) => {
    const { end, counts } = await run('guards.ts', folder)
    const answers = frameworks.flatMap(({ name }) => [
      `${name}, hostile: 401`,
      `${name}, sound: 200`,
    ])
    expect({ end, answers: Object.keys(counts) }).toEqual({ end: [0, null], answers })
    const hostile = Object.entries(counts).filter(([what]) => what.includes('hostile'))
    expect(hostile.reduce((sum, [, count]) => sum + count, 0)).toBeGreaterThan(1000)
  },
)

test(
  'a client survives answers of thousands of levels, and still logs in',
  { timeout: 120_000 },
  async () => {
    const { end, counts } = await run('client.ts')
    expect({ end, counts }).toEqual({
      end: [0, null],
      counts: {
        '200, hostile: unexpected_response': 192,
        '400, hostile: credentials_rejected': 192,
        'parsed, hostile: unexpected_response': 192,
        '200, sound: a token': 1,
      },
    })
  },
)

test(
  'what asks an authorization server or receives its events survives thousands of levels, and still works',
  { timeout: 120_000 },
  async () => {
    const { end, counts } = await run('issuers.ts')
    expect({ end, counts }).toEqual({
      end: [0, null],
      counts: {
        'introspection, hostile: bad_answer': 36,
        'grant, hostile: unexpected_response': 36,
        'refused grant, hostile: unexpected_response': 36,
        'poll, hostile: failing': 36,
        'log-out, hostile: 400': 72,
        'event, hostile: 400': 72,
        'introspection, sound: accepted': 1,
        'grant, sound: a token': 1,
        'poll, sound: current': 1,
      },
    })
  },
)

test(
  '`portcullis serve` and the commands survive tokens, bodies, proofs and lines of thousands of levels, and still answer',
  { timeout: 120_000 },
  async () => {
    const { end, counts } = await run('programs.ts')
    expect({ end, counts }).toEqual({
      end: [0, null],
      counts: {
        // It explains why a verifier refuses the token.
        'control/explain, hostile: 200': 72,
        'console/explain, hostile: 200': 72,
        'control/mint, hostile: 400': 36,
        'login, hostile: 400': 54,
        'decode, hostile: 1': 72,
        'explain, hostile: 1': 72,
        'revoke, hostile: 2': 72,
        'import, hostile: Error: nothing was added: line 1 is no entry': 36,
        'login, sound: 200': 1,
      },
    })
  },
)

/** Runs a program of `deep-json` to its end: how it ended, and how often it had which answer. */
async function run(program: string, ...args: readonly string[]) {
  const child = fork(fileURLToPath(new URL(`deep-json/${program}`, import.meta.url)), args, {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    execArgv: [
      '--expose-gc',
      '--conditions=@portcullis/source',
      '--disable-warning=ExperimentalWarning',
    ],
  })
  let counts: Readonly<Record<string, number>> = {}
  child.on('message', (message) => {
    counts = message as typeof counts // the last words of program.ts
  })
  const end: readonly unknown[] = await once(child, 'exit')
  return { end, counts }
}
