import { expect, test } from 'vitest'

import { isInRange } from '../../src/doctor/version-range.ts'

test.each<[version: string, range: string, expected: boolean | undefined]>([
  ['22.13.0', '^20.19.0 || ^22.13.0 || >=24', true],
  ['22.12.9', '^20.19.0 || ^22.13.0 || >=24', false],
  ['23.0.0', '^20.19.0 || ^22.13.0 || >=24', false],
  ['26.1.0', '^20.19.0 || ^22.13.0 || >=24', true],
  ['v20.19.1', '>=20', true],
  ['5.1.0', '^4.17.0 || ^5.0.0', true],
  ['4.16.9', '^4.17.0', false],
  ['5.0.0-beta.1', '^5.0.0', true],
  ['0.2.5', '^0.2.3', true],
  ['0.3.0', '^0.2.3', false],
  ['1.2.9', '~1.2.3', true],
  ['1.3.0', '~1.2.3', false],
  ['2.9.0', '2.x', true],
  ['3.0.0', '2', false],
  ['2.0.0', '1 - 3', undefined],
  ['2.0.0', '>= 1.2 < 3', true],
  ['3.0.0', '>= 1.2 <3', false],
  ['3.5.0', '<=3', true],
  ['4.0.0', '>3', true],
  ['3.5.0', '>3', false],
  ['1.0.0', '*', true],
  ['1.0.0', 'workspace:^', undefined],
  ['next', '>=1', undefined],
])('%s in %s: %s', (version, range, expected) => {
  expect(isInRange(version, range)).toBe(expected)
})
