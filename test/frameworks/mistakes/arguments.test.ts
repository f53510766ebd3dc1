import { expect, test } from 'vitest'

import { ENTRIES, JUNK, LEFT_OUT, ROWS, type Row, type Word } from './calls.ts'

// Every public function with each of its arguments missing, wrong and exchanged with another: a TypeError of ours says what was wrong. A
// fault of the engine, such as "flatMap is not a function", says nothing to whoever has made the mistake.

/** How the family speaks: the function, and what is wrong. Some messages have no name of a function. */
const OURS =
  /^(?:@?[A-Za-z\d.]+: |unknown kind of sources: |no guard (?:has seen|with this verifier)|createHealth needs |.+ is not a reason of )/
/** How V8 does. */
const ENGINE =
  /\b(?:Cannot (?:convert|destructure|read|set|use)|is not (?:a constructor|a function|iterable)|called on non-object|\[object)/

/** `taken`, `said`, or what else was thrown. */
type Outcome = string

async function outcomeOf({ call }: Row, given: readonly unknown[]): Promise<Outcome> {
  try {
    await call(...given)
    return 'taken'
  } catch (error) {
    const isSaid =
      error instanceof TypeError && OURS.test(error.message) && !ENGINE.test(error.message)
    return isSaid ? 'said' : String(error)
  }
}

test('every public function has a row, or a reason why not', () => {
  const functions = Object.entries(ENTRIES).flatMap(([entry, members]) =>
    Object.entries(members)
      .filter(([, member]) => typeof member === 'function')
      .map(([name]) => `${entry} ${name}`),
  )
  const known = [...ROWS.map(({ name }) => name), ...Object.keys(LEFT_OUT)]
  expect(
    functions.filter((name) => !known.includes(name)),
    'add them to ROWS',
  ).toEqual([])
  // A method has its owner before it.
  const unknown = known.filter((name) => !functions.includes(name) && !name.includes('.'))
  expect(unknown).toEqual([])
})

test.each(ROWS)('$name: right arguments are taken, and nothing else is', async (row) => {
  const { given, alike, isRight } = row
  const right = given.map((each) => each.right)
  const outcomes: Record<string, Outcome> = {}
  const expected: Record<string, Outcome> = {}
  if (isRight) {
    outcomes['right'] = await outcomeOf(row, right)
    expected['right'] = 'taken'
  }
  for (const [at, { takes }] of given.entries()) {
    const said = (word: Word) => (takes.includes(word) ? 'taken' : 'said')
    for (const [word, make] of Object.entries(JUNK)) {
      outcomes[`${at} ${word}`] = await outcomeOf(row, right.with(at, make()))
      expected[`${at} ${word}`] = said(word as Word)
    }
    outcomes[`${at} missing`] = await outcomeOf(row, right.slice(0, at))
    expected[`${at} missing`] = said('missing')
    for (let other = at + 1; other < given.length; other++) {
      const swapped = right.with(at, right[other]).with(other, right[at])
      outcomes[`${at}-${other}`] = await outcomeOf(row, swapped)
      expected[`${at}-${other}`] = alike.includes(`${at}-${other}`) ? 'taken' : 'said'
    }
  }
  expect(outcomes).toEqual(expected)
})
