import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { partsOf, type Words, wordsOf } from '../../docs/parts.ts'

// The documents of the program and of the metrics: what a table says is written, and the rest is short.

const root = join(import.meta.dirname, '..', '..')

test.each<[path: string, parts: readonly string[], most: number]>([
  ['packages/cli/README.md', ['commands', 'flags explain'], 760],
  ['packages/cli/SERVE.md', ['flags serve'], 600],
  ['packages/metrics/README.md', ['metrics'], 760],
])('%s has its tables written, and few words by hand, code included', (path, parts, most) => {
  const text = readFileSync(join(root, path), 'utf8')
  const { byHand, written }: Words = wordsOf(text)
  expect(partsOf(text)).toEqual(parts)
  expect(written).toBeGreaterThan(0)
  expect(byHand).toBeLessThanOrEqual(most)
})
