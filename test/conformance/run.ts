import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { root } from '../../docs/entries.ts'
import { tableOf } from '../../docs/parts.ts'
import { compare, type Comparison, REVISIONS } from './mcp/run.ts'
import { SERVERS } from './mcp/servers.ts'

// pnpm conformance [--write]: what others have written, against Portcullis; `--write` puts the results into the README of this folder.
// --revision 2026-07-28: one revision of the Model Context Protocol alone.

const { values } = parseArgs({
  options: {
    revision: { type: 'string', multiple: true },
    write: { type: 'boolean', default: false },
  },
})
const here = fileURLToPath(new URL('.', import.meta.url))
const README = join(here, 'README.md')

/** What others have written and tests of ours put to work: the folder of the tests, what it is, and its package. */
const TESTS: readonly (readonly [folder: string, what: string, ...packages: string[]])[] = [
  ['test/conformance', 'conditions of the OpenID Foundation, by the names of their modules'],
  ['test/bound-tokens', 'clients and an issuer of others', 'openid-client', 'oidc-provider'],
  [
    'test/mcp',
    'clients of the SDK of MCP',
    '@modelcontextprotocol/client',
    '@modelcontextprotocol/sdk',
  ],
  ['test/opaque-tokens', 'an issuer of others', 'oidc-provider'],
]

function versionOf(name: string): string {
  const manifest = readFileSync(join(root, 'test/node_modules', name, 'package.json'), 'utf8')
  const { version } = JSON.parse(manifest) as { readonly version: string }
  return `${name} ${version}`
}

const comparisons: Comparison[] = []
for (const endpoint of Object.keys(SERVERS)) {
  for (const revision of values.revision ?? REVISIONS) {
    const comparison = await compare(endpoint, revision)
    comparisons.push(comparison)
    const { scenarios, passed, failed, different } = comparison
    console.log(`${endpoint}, ${revision}: ${scenarios} scenarios, ${passed} checks passed`)
    for (const each of failed) console.log(`  failed: ${each}`)
    for (const each of different) console.log(`  changed by the guard: ${each}`)
  }
}

const counts = values.revision === undefined ? TESTS.map(([folder]) => testsIn(folder)) : []

/** @throws if one of them fails: nothing is written then. */
function testsIn(folder: string): number {
  const results = mkdtempSync(join(tmpdir(), 'portcullis-conformance-'))
  try {
    const file = join(results, 'results.json')
    const options = ['--reporter=json', `--outputFile=${file}`]
    const { status } = spawnSync('vitest', ['run', folder, ...options], { cwd: root })
    if (status !== 0) throw new Error(`pnpm test ${folder} fails`)
    const { numPassedTests } = JSON.parse(readFileSync(file, 'utf8')) as Results
    console.log(`${folder}: ${numPassedTests} tests passed`)
    return numPassedTests
  } finally {
    rmSync(results, { recursive: true, force: true })
  }
}

interface Results {
  readonly numPassedTests: number
}

if (values.write && values.revision === undefined) {
  const mcp = comparisons.map(({ endpoint, revision, scenarios, passed, failed, different }) => [
    `\`${endpoint}\`, ${revision}`,
    String(scenarios),
    String(passed),
    String(failed.length),
    String(different.length),
  ])
  const others = TESTS.map(([folder, what, ...packages], at) => [
    `\`${folder}\``,
    what,
    packages.map(versionOf).join(', '),
    String(counts[at]),
  ])
  const text = readFileSync(README, 'utf8')
  const ofMcp = [
    'Endpoint and revision',
    'Scenarios',
    'Checks passed',
    'failed',
    'changed by the guard',
  ]
  const ofTests = ['Tests', 'What others wrote', 'Versions', 'Passed']
  const tables = `${tableOf(ofMcp, mcp)}\n${tableOf(ofTests, others)}`
  const place = /(<!-- results -->)[\s\S]*(<!-- end of results -->)/
  writeFileSync(README, text.replace(place, `$1\n\n${tables}\n$2`))
}
const isSound = comparisons.every(({ failed, different }) => failed.length + different.length === 0)
process.exitCode = isSound ? 0 : 1
