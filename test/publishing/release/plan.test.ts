import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, test } from 'vitest'

import { manifestPaths } from '../published.ts'
import { addressOf } from './address.ts'
import { canTrust, foreignTo, type Manifest, obstaclesOf, planRelease } from './plan.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const manifests = manifestPaths.map(
  (path) => JSON.parse(readFileSync(join(root, path), 'utf8')) as Manifest,
)

test('the family has one version, and everybody comes after what they depend on', () => {
  const { order } = planRelease(manifests)
  expect(order).toHaveLength(manifests.length)
  expect(order.indexOf('@portcullis/core')).toBeLessThan(order.indexOf('@portcullis/express'))
  for (const { name, dependencies, peerDependencies } of manifests) {
    const before = new Set(order.slice(0, order.indexOf(name)))
    const needed = Object.keys({ ...dependencies, ...peerDependencies })
    const ours = needed.filter((each) => order.includes(each))
    expect(ours.filter((each) => !before.has(each))).toEqual([])
  }
})

test.each([
  ['1.2.3', 'latest'],
  ['1.0.0-rc.0', 'rc'],
  ['2.0.0-beta.11', 'beta'],
])('%s is published under the tag %s', (version, distTag) => {
  expect(planRelease([{ name: 'a', version }])).toEqual({
    version,
    distTag,
    gitTag: `v${version}`,
    order: ['a'],
  })
})

test.each(['1.2', '1.0.0-rc', '1.0.0-0', 'latest', '1.0.0-latest.1x'])(
  '%s is no version of a release',
  (version) => {
    expect(() => planRelease([{ name: 'a', version }])).toThrow('neither a version')
  },
)

test('two versions are no release', () => {
  const versions = ['1.0.0', '1.0.1'].map((version) => ({ name: version, version }))
  expect(() => planRelease(versions)).toThrow('one version, not 1.0.0, 1.0.1')
})

describe('what stands in the way', () => {
  const ready = { name: 'a', version: '1.0.0', ...addressOf('acme/guards', 'packages/a') }

  test('is nothing, of a packed manifest with a version and an address', () => {
    expect(obstaclesOf({ ...ready, dependencies: { b: '^1.0.0' } })).toEqual([])
  })

  test.each<[string, Partial<Manifest>, string]>([
    ['a private package', { private: true }, 'a is private'],
    ['no version', { version: '0.0.0' }, 'a has no version yet'],
    ...(['repository', 'homepage', 'bugs'] as const).map((field): [string, object, string] => [
      `no ${field}`,
      { [field]: undefined },
      `a does not say its ${field}: run release repository`,
    ]),
    ['a range of pnpm', { dependencies: { b: 'catalog:' } }, 'a depends on b by "catalog:"'],
    ['a folder', { peerDependencies: { b: 'link:../b' } }, 'a depends on b by "link:../b"'],
  ])('is %s', (_, change, obstacle) => {
    expect(obstaclesOf({ ...ready, ...change })).toEqual([obstacle])
  })
})

test('only packages of the repository that publishes are published', () => {
  const a = { name: 'a', version: '1.0.0', ...addressOf('acme/guards', 'packages/a') }
  const b = { name: 'b', version: '1.0.0', ...addressOf('elsewhere/guards', 'packages/b') }
  expect(foreignTo('acme/guards', [a])).toEqual([])
  expect(foreignTo('acme/guards', [a, b, { name: 'c', version: '1.0.0' }])).toEqual([
    'b says another repository than acme/guards: git+https://github.com/elsewhere/guards.git',
    'c says another repository than acme/guards: undefined',
  ])
})

test.each([
  ['10.9.0', false],
  ['11.5.0', false],
  ['11.5.1', true],
  ['11.19.1', true],
  ['12.0.0', true],
])('npm %s can publish without a token: %s', (version, can) => {
  expect(canTrust(version)).toBe(can)
})
