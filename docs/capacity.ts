import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { tableUnder } from '../test/documents/markdown.ts'
import { root } from './entries.ts'
import { tableOf } from './parts.ts'

// The tables of OPERATING.md about a fleet, of those that `bench fleet` has printed: test/bench/README.md has them with more rows.

const PROCESSES = new Set(['50', '100', '10000'])

const FLEET = [
  'Processes',
  'Keys: steady, requests/s',
  'Keys: deploy, peak/s',
  'Keys: outage, requests/s',
  'Keys: rotation, in all',
  'Revocations: commands/s',
  'One revocation, KB',
]

/** Requests of all processes to the key endpoint of an issuer, and to the Redis with its revocations. */
export function tableOfFleet(): string {
  const revocations = rowsUnder('What a fleet asks of the Redis with its revocations')
  const keys = rowsUnder('What a fleet asks of one key endpoint')
  const rows = keys.map(
    ([size = '', steady = '', deploy = '', outage = '', , rotation = ''], at) => {
      const [, quiet = '', , , sent = ''] = revocations[at] ?? []
      const [asked, total] = [outage.replace(/ .*/, ''), rotation.replace(/.*\/ /, '')]
      return [size, steady, deploy, asked, total, quiet, sent]
    },
  )
  return tableOf(FLEET, rows)
}

/** The same of an introspection endpoint, and of a transmitter of events. */
export function tableOfIntrospections(): string {
  const heading = 'What a fleet asks of an introspection endpoint and of a transmitter'
  const { columns } = tableUnder(bench(), heading, 'Processes')
  return tableOf(columns, rowsUnder(heading))
}

function rowsUnder(heading: string): readonly (readonly string[])[] {
  const { rows } = tableUnder(bench(), heading, 'Processes')
  return rows.filter(([processes = '']) => PROCESSES.has(processes))
}

function bench(): string {
  return readFileSync(join(root, 'test/bench/README.md'), 'utf8')
}
