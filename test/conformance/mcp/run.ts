import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { SERVERS, startServer } from './servers.ts'

// Runs the suite of the Model Context Protocol against the guarded server and the bare one beside it, and compares each check.

const SUITE = fileURLToPath(
  new URL('dist/index.js', import.meta.resolve('@modelcontextprotocol/conformance/package.json')),
)

/** The revisions that its scenarios are for. */
export const REVISIONS = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const

/** Of one check: its scenario, its id, and which of those with this id it is. */
type Outcomes = ReadonlyMap<string, string>

export interface Comparison {
  readonly endpoint: string
  readonly revision: string
  readonly scenarios: number
  /** Of the guarded server. */
  readonly passed: number
  readonly failed: readonly string[]
  /** What the guard changes: the check, and both outcomes. */
  readonly different: readonly string[]
}

export async function compare(endpoint: string, revision: string): Promise<Comparison> {
  const kinds = SERVERS[endpoint]
  if (kinds === undefined) throw new TypeError(`there is no ${endpoint}`)
  await using bare = await startServer(kinds.bare, false)
  await using guarded = await startServer(kinds.guarded, true)
  const without = await outcomesOf(bare.url, revision)
  const behind = await outcomesOf(guarded.url, revision)
  const names = [...new Set([...without.keys(), ...behind.keys()])]
  return {
    endpoint,
    revision,
    scenarios: new Set(names.map((name) => name.split(' ')[0])).size,
    passed: [...behind.values()].filter((each) => each === 'SUCCESS').length,
    failed: names.filter((name) => behind.get(name) === 'FAILURE'),
    different: names
      .filter((name) => without.get(name) !== behind.get(name))
      .map((name) => `${name}: ${without.get(name)} without, ${behind.get(name)} with`),
  }
}

async function outcomesOf(url: string, revision: string): Promise<Outcomes> {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-conformance-'))
  try {
    const options = ['--suite', 'all', '--spec-version', revision, '--output-dir', folder]
    const suite = spawn(process.execPath, [SUITE, 'server', '--url', url, ...options], {
      stdio: 'ignore',
    })
    // It exits with 1 if a check fails: the comparison says so as well.
    await once(suite, 'exit')
    return outcomesIn(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A folder for each scenario, whose name ends with the time of the run. */
function outcomesIn(folder: string): Outcomes {
  const outcomes = new Map<string, string>()
  for (const path of globSync('*/checks.json', { cwd: folder }).toSorted()) {
    const scenario = basename(dirname(path)).replace(/-\d{4}-\d\d-\d\dT.*$/, '')
    const checks = JSON.parse(readFileSync(join(folder, path), 'utf8')) as readonly Check[]
    for (const { id, status } of checks) {
      let [name, count] = [`${scenario} ${id}`, 1]
      while (outcomes.has(name)) name = `${scenario} ${id} ${(count += 1)}`
      outcomes.set(name, status)
    }
  }
  if (outcomes.size === 0) throw new Error('the suite has made no check')
  return outcomes
}

interface Check {
  readonly id: string
  readonly status: string
}
