import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { FLOOD, folder, OUTAGE, pictures, ROTATION } from './rotation-pictures.ts'
import { tell, type Told } from './rotation-story.ts'

// What KEYS.md shows, and what it says of it.

const drawn = pictures()
const verdictsOf = ({ tokens }: Told, name: string) =>
  new Set(tokens.filter(({ key }) => key === name).map(({ verdict }) => verdict))

test.each([...drawn.keys()])(
  '%s is what the policy makes of it: `node test/draw.ts rotation` draws it',
  (name) => {
    expect(readFileSync(join(folder, name), 'utf8')).toBe(drawn.get(name))
  },
)

test('comparison.svg is what Portcullis and jose do with real tokens: `node test/draw.ts comparison` draws it', () => {
  const script = join(import.meta.dirname, 'rotation-comparison.ts')
  const options = ['--conditions=@portcullis/source', script, '--print']
  const printed = execFileSync(process.execPath, options, { encoding: 'utf8' })
  expect(readFileSync(join(folder, 'comparison.svg'), 'utf8')).toBe(printed)
})

test('in a rotation the first token of the new key is accepted, and so are all others of it', () => {
  const told = tell(ROTATION)
  expect(verdictsOf(told, 'B')).toEqual(new Set(['accepted']))
  const first = told.tokens.find(({ key }) => key === 'B')
  expect(told.requests[0]).toBeCloseTo(first?.at ?? 0)
  expect(told.requests).toHaveLength(3)
})

test('in a flood the new key is found within 15 seconds', () => {
  const told = tell(FLOOD)
  const refused = told.tokens.filter(({ key, verdict }) => key === 'B' && verdict === 'refused')
  expect(refused.length).toBeGreaterThan(0)
  expect(refused.at(-1)?.at).toBeLessThan(15)
})

test('in an outage known keys go on for an hour, and a token of another key gets 503', () => {
  const told = tell(OUTAGE)
  const [last] = told.trusted.A.slice(-1)
  expect(last?.until).toBeGreaterThan(3600)
  expect(verdictsOf(told, 'B')).toEqual(new Set(['unavailable', 'accepted']))
  const healed = told.tokens.find(({ key, verdict }) => key === 'B' && verdict === 'accepted')
  const shown = OUTAGE.interval * (OUTAGE.shownEvery ?? 1)
  expect(healed?.at).toBeLessThan((OUTAGE.outage?.until ?? 0) + 36 + shown)
})
