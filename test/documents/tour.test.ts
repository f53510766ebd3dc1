import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { codeSpans, linksOf } from './markdown.ts'

// What the tour and the decisions say of the code is looked up there, so that a renamed function is renamed here as well.

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const [tour = ''] = read('docs/tour.md').split('## Changes in many places')

/** The numbered stops, each of which begins with a link to a file. */
const stops = tour
  .split(/^(?=\d+\. |##? |$)/m)
  .filter((text) => /^\d+\. /.test(text))
  .map((text) => ({ text, file: join('docs', linksOf(text)[0] ?? '') }))

test('the tour has stops in two walks', () => {
  expect(stops.length).toBeGreaterThan(20)
  expect(stops.filter(({ text }) => !/^\d+\. \[packages\//.test(text))).toEqual([])
})

test.each(stops)('$file has every name that the tour says', ({ text, file }) => {
  const source = read(file)
  expect(codeSpans(text).length).toBeGreaterThan(0)
  expect(codeSpans(text).filter((name) => !hasName(source, name))).toEqual([])
})

test('each step that the tour numbers is that step', () => {
  const steps = stops
    .map(({ text }) => /: step (\d), `(\w+)`/.exec(text))
    .filter((found) => found !== null)
    .map(([, step]) => Number(step))
  expect(steps).toEqual([1, 2, 3, 4, 5])
})

const decisions = globSync('docs/decisions/*.md', { cwd: root, exclude: ['**/README.md'] })

test('the list of decisions has them all, in their order', () => {
  const files = decisions.map((path) => path.replace('docs/decisions/', '')).toSorted()
  expect(linksOf(read('docs/decisions/README.md'))).toEqual(files)
})

test.each(decisions)('%s is short, and has the same parts as the others', (path) => {
  const text = read(path)
  expect(text.split('\n').length).toBeLessThan(40)
  const parts = [...text.matchAll(/^(?:\*\*(.*?)\.\*\*|(Code):)/gm)].map(
    ([, bold, code]) => bold ?? code,
  )
  expect(parts).toEqual(['Decided', 'Why', 'What it costs', 'What would change it', 'Code'])
})

test.each(decisions)('the code that %s names is there', (path) => {
  const [, places = ''] = read(path).split(/^Code: /m)
  for (const place of places.split(',')) {
    const spans = codeSpans(place)
    const linked = linksOf(place).map((link) => join(dirname(path), link))
    const files = [...spans.filter((span) => span.includes('/')), ...linked]
    const names = spans.filter((span) => !span.includes('/'))
    expect(files).toHaveLength(1)
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([])
    expect(names.filter((name) => !hasName(read(files[0] ?? ''), name))).toEqual([])
  }
})

/** Whether a source has an identifier, or the last part of one such as `request.auth`. */
function hasName(source: string, name: string): boolean {
  const last = name.split('.').at(-1) ?? name
  return source.split(/[^\w$]/).includes(last)
}
