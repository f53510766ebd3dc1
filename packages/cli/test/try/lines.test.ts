import { expect, test } from 'vitest'

import { conclusion, eventsOf, linesOf } from '../../src/try/lines.ts'
import { NEW_KIDS, storyOf } from '../../src/try/story.ts'
import { createTally } from '../../src/try/tally.ts'

const story = storyOf(60, 'same')

/** A story at a moment: Portcullis accepts all genuine tokens, the other one none of the new key. */
function at(elapsed: number) {
  const tally = createTally(story.seconds)
  for (let time = 0; time < elapsed; time += 1) {
    const kind = time < story.rotatesAt ? 'old' : 'new'
    tally.answered('portcullis', { kind, at: time, status: 200, took: 0.012 })
    tally.answered('jose', { kind, at: time, status: kind === 'old' ? 200 : 401, took: 0.003 })
  }
  const isFlooded = elapsed > story.floodFrom
  for (const guard of ['portcullis', 'jose'] as const) tally.keysAsked(guard)
  if (elapsed > story.rotatesAt) tally.keysAsked('portcullis')
  if (isFlooded) {
    tally.floodBegins()
    tally.keysAsked('portcullis')
    for (const guard of ['portcullis', 'jose'] as const) {
      tally.answered(guard, { kind: 'forged', at: 40, status: 401, took: 0.001 })
    }
  }
  const floodedAt = () => (isFlooded ? 35 : undefined)
  return {
    tally,
    elapsed: () => elapsed,
    rotatedAt: () => (elapsed > 20 ? 20 : undefined),
    floodedAt,
  }
}

const textsAt = (elapsed: number) =>
  linesOf(story, at(elapsed)).map((line) => line.map(([, text]) => text).join(''))

test.each(NEW_KIDS)('with the kid %s each line fits in 76 columns', (kid) => {
  const lines = linesOf(storyOf(3600, kid), at(60))
  const lengths = lines.map((line) => line.map(([, text]) => text).join('').length)
  expect(Math.max(...lengths)).toBeLessThanOrEqual(76)
  expect(lines.length).toBeLessThan(22)
})

test('the rotation comes before the flood, and both within the time', () => {
  expect(eventsOf(story).map(([time]) => time)).toEqual([0, 20, 35])
})

test.each([
  [0, 'genuine tokens, four in a second'],
  [19.9, 'genuine tokens, four in a second'],
  [20, 'the service signs with a new key, under the kid of the old one'],
  [35, '50 forged tokens a second as well: genuine, but for the signature'],
])('after %d s what happens is marked: %s', (elapsed, text) => {
  const marked = textsAt(elapsed).filter((line) => line.startsWith('>'))
  expect(marked).toEqual([expect.stringContaining(text)])
})

test('counts stand below the names of the guards, and the course shows each second', () => {
  const texts = textsAt(60)
  expect(texts).toContain('genuine tokens accepted                       60          20')
  expect(texts).toContain('genuine tokens refused                         0          40')
  expect(texts).toContain('first token of the new key                   200         401')
  expect(texts).toContain('requests for keys                              3           1')
  expect(texts).toContain(`Portcullis  ${'+'.repeat(60)}`)
  expect(texts).toContain(`jose        ${'+'.repeat(20)}${'x'.repeat(40)}`)
})

test('what stops it is said until it has ended', () => {
  expect(textsAt(30).at(-1)).toBe(' 30 s of 60 s; Ctrl-C ends it')
  expect(textsAt(60).at(-1)).toBe(' 60 s of 60 s')
})

test('what came of it is said in numbers that were counted', () => {
  const [counted, first, why, flood] = conclusion(story, at(60))
  expect(counted).toBe(
    'Portcullis accepted all 60 genuine tokens. jose refused 40 of 60 genuine tokens.',
  )
  expect(first).toContain('got 200 after 12 ms from Portcullis')
  expect(first).toContain('and 401 after 3 ms from jose.')
  expect(why).toContain('at most every 30 seconds')
  expect(flood).toBe(
    '1 forged token in 25 s made Portcullis ask for keys once, and jose 0 times. None was accepted.',
  )
})

test('a guard that accepts a forged token, or refuses a genuine one, is not spared', () => {
  const { tally, ...rest } = at(60)
  tally.answered('portcullis', { kind: 'forged', at: 50, status: 200, took: 0 })
  tally.answered('portcullis', { kind: 'new', at: 50, status: 401, took: 0 })
  const said = conclusion(story, { tally, ...rest }).join(' ')
  expect(said).toContain('Portcullis refused 1 of 61 genuine tokens.')
  expect(said).toContain('Portcullis accepted 1 of them, jose 0.')
})

test('if nothing was rotated, nothing is said of it', () => {
  expect(conclusion(story, at(10)).join(' ')).not.toContain('first token')
})
