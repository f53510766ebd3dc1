import { describe, expect, test } from 'vitest'

import type { Surroundings } from '../../src/surroundings/surroundings.ts'
import { createTerminal, type StyledLine } from '../../src/surroundings/terminal.ts'

const LINES: readonly StyledLine[] = [
  [
    ['plain', 'all '],
    ['red', 'wrong'],
  ],
  [['bold', 'x'.repeat(200)]],
]

/** A terminal, and what it was sent. */
function created(stdout: Partial<Surroundings['stdout']> = {}, env: Record<string, string> = {}) {
  const written: string[] = []
  const write = (text: string) => written.push(text)
  const terminal = createTerminal({
    args: [],
    env,
    cwd: '.',
    stdin: (async function* () {})(),
    stdout: { isTTY: true, columns: 80, rows: 24, ...stdout, write },
    stderr: { write },
    fetch: async () => await Promise.reject(new TypeError('no network here')),
    clock: { now: () => 0, monotonic: () => 0, after: () => () => undefined },
    signal: new AbortController().signal,
  })
  return { terminal, written }
}

describe('lines can be replaced', () => {
  test('in a terminal that has room for them', () => {
    expect(created().terminal.canRewrite(21)).toBe(true)
  })

  test.each<[where: string, stdout: object, env?: Record<string, string>]>([
    ['in a pipe', { isTTY: false }],
    ['in a dumb terminal', {}, { TERM: 'dumb' }],
    ['in a low terminal', { rows: 21 }],
    ['in a narrow terminal', { columns: 71 }],
    ['in a terminal that does not say its size', { rows: undefined }],
  ])('not %s', (_, stdout, env) => {
    expect(created(stdout, env).terminal.canRewrite(21)).toBe(false)
  })
})

test('the first lines are written, and the next ones take their place', () => {
  const { terminal, written } = created({}, { NO_COLOR: '1' })
  terminal.rewrite([[['plain', 'a']], [['plain', 'b']]])
  terminal.rewrite([[['plain', 'c']]])
  terminal.rewrite([[['plain', 'd']]])
  expect(written).toEqual(['a\nb\n', '\u{1b}[2A\r\u{1b}[Jc\n', '\u{1b}[1A\r\u{1b}[Jd\n'])
})

test('a line is cut where the terminal ends, so that none becomes two', () => {
  const { terminal, written } = created({ columns: 72 }, { NO_COLOR: '1' })
  terminal.rewrite(LINES)
  expect(written).toEqual([`all wrong\n${'x'.repeat(71)}\n`])
})

test.each<[env: Record<string, string>, isColoured: boolean]>([
  [{}, true],
  [{ NO_COLOR: '1' }, false],
])('colours are shown or not: %j', (env, isColoured) => {
  const { terminal, written } = created({}, env)
  terminal.rewrite(LINES)
  expect(written.join('').includes('\u{1b}[31mwrong')).toBe(isColoured)
})
