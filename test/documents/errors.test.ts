import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, test } from 'vitest'

import { root } from '../../docs/entries.ts'
import { mistakesIn, mistakesOf } from '../../docs/mistakes.ts'
import { ALGORITHMS } from '../../packages/core/src/algorithms/algorithms.ts'
import { refusals } from '../../packages/core/src/refusal/refusals.ts'
import { codeSpans, tablesOf } from './markdown.ts'
import { begins, messagesIn, messagesOf } from './type-errors.ts'

const guide = (name: string) =>
  fileURLToPath(new URL(`../../packages/core/${name}`, import.meta.url))
const errors = readFileSync(guide('ERRORS.md'), 'utf8')

describe('the refusals of ERRORS.md', () => {
  test('every row says what it means, and what each side does', () => {
    const tables = tablesOf(errors).filter(({ columns: [first] }) => first === 'Reason')
    expect(tables.map(({ heading }) => heading)).toEqual(Object.keys(refusals))
    expect(tables.flatMap(({ rows }) => rows).filter((row) => row.includes(''))).toEqual([])
  })
})

/** The decorators that contradict each other are named there. */
const OF_DECORATORS = '…'
/** No key has another kind, and WebCrypto makes pairs of keys for these algorithms. */
const UNREACHABLE = ['unknown kind of key: …', 'not a key pair']

// `testing` and the programs say theirs to the person who has just written the call or the command. Guides of core name no provider.
const MESSAGES = messagesOf('!(cli|providers|testing)')
  .filter(({ path }) => !path.startsWith('packages/redis/src/program'))
  .filter(({ text }) => ![OF_DECORATORS, ...UNREACHABLE].includes(text))

describe('MISTAKES.md', () => {
  const mistakes = readFileSync(guide('MISTAKES.md'), 'utf8')
  const rows = tablesOf(mistakes)
    .filter(({ columns: [first] }) => first === 'Message')
    .flatMap((table) => table.rows)
  const messages = rows.map(([cell = '']) => codeSpans(cell)[0] ?? '')

  test.each(MESSAGES)('$text ($path) has a row', ({ text }) => {
    expect(
      messages.filter((message) => begins(text, message)),
      'write // Mistake `MESSAGE`: what to write instead, above the check, then `pnpm write`',
    ).not.toEqual([])
  })

  test.each(messages)('%s is what a source says', (message) => {
    expect(MESSAGES.some(({ text }) => begins(text, message))).toBe(true)
  })

  test('what stands beside a check is written into it, each once', () => {
    const beside = mistakesOf().map(({ id }) => `<a id="${id}"></a>`)
    expect(beside.length).toBeGreaterThan(90)
    expect(beside.filter((place) => mistakes.split(place).length !== 2)).toEqual([])
  })

  test('it stands right above a check that says so', () => {
    const far = mistakesOf().filter(({ path, message }) => {
      const code = readFileSync(join(root, path), 'utf8')
      return !messagesIn(code).some((said) => begins(said, message))
    })
    expect(far).toEqual([])
  })

  test('that of a key of another kind names every curve that has an algorithm', () => {
    const row = rows.find(([cell = '']) => cell.includes('a key of type … cannot be used'))
    const curves = [...ALGORITHMS.values()].flatMap((rule) => ('crv' in rule ? [rule.crv] : []))
    expect(curves.filter((crv) => row?.[1]?.includes(crv) !== true)).toEqual([])
  })

  test('each has a place of its own to link to', () => {
    const places = rows.map(([cell = '']) => /^<a id="(error-[a-z\d-]+)"><\/a>/.exec(cell)?.[1])
    expect(places).not.toContain(undefined)
    expect(new Set(places).size).toBe(places.length)
  })
})

describe('the messages of a source', () => {
  test('are found, with their parts left out', () => {
    const code = `
      throw new TypeError('a: it\\'s wrong')
      throw new TypeError(
        \`\${name}: takes \${count === 1 ? 'one' : \`\${count} of them\`}; see \${{ a: 1 }.a}\`,
      )
      throw new TypeError(complaint)`
    expect(messagesIn(code)).toEqual(["a: it's wrong", '…: takes …; see …', '…'])
  })

  test.each([
    ['a: … …', '…: … …', true],
    ['a.…: must be stated', '…: must be', true],
    ['a: b must be', '…: … …', false],
    ['a: b', 'b: b', false],
  ])('%s begins as %s: %s', (text, message, expected) => {
    expect(begins(text, message)).toBe(expected)
  })
})

describe('a mistake beside its check', () => {
  test('is a message and what to write, in one comment of several lines', () => {
    const code = `
    // Mistake \`…: takes …\`: Combine several
    // with \`all(...)\`.
    throw new TypeError('')
  // Mistake error-own \`a: b\`: Write c.
  // Mistake \`d\`: Write e.
`
    expect(
      mistakesIn(code, 'a.ts').map(({ id, message, advice }) => [id, message, advice]),
    ).toEqual([
      ['error-takes', '…: takes …', 'Combine several with `all(...)`.'],
      ['error-own', 'a: b', 'Write c.'],
      ['error-d', 'd', 'Write e.'],
    ])
  })

  test('is an error without a message', () => {
    expect(() => mistakesIn('// Mistake of somebody\n', 'a.ts')).toThrow('a.ts: write // Mistake')
  })
})
