import { expect, test } from 'vitest'

import { createTally } from './tally.ts'

test('what grows is told, and what only differs is not', () => {
  const tally = createTally()
  const MIB = 2 ** 20
  for (let at = 0; at < 100; at += 1) {
    const level = { at, resident: 90 * MIB, handles: 5 + (at % 3), listeners: 9 }
    tally.sampled('level', { ...level, heap: (20 + (at % 4) / 2) * MIB })
    tally.sampled('leaks memory', { ...level, heap: (20 + at / 10) * MIB })
    tally.sampled('leaks listeners', { ...level, heap: 20 * MIB, listeners: 9 + at })
    tally.sampled('leaks sockets', { ...level, heap: 20 * MIB, handles: at })
    tally.sampled('grows at first', { ...level, heap: Math.min(20 + at, 40) * MIB })
  }
  const flat = tally.growth(20).filter(({ isFlat }) => isFlat)
  expect(flat.map(({ process }) => process)).toEqual(['level', 'grows at first'])
})
