import type { Program } from '../choose.ts'

// The benches by name: `pnpm bench NAME` runs one, and each has flags of its own.

export interface Bench extends Program {
  /** The packages as they would be published, in any Node; or their sources; `packed`: it packs and installs them itself. */
  readonly on: 'built' | 'source' | 'packed'
}

const OPTIONS = ['--expose-gc', '--no-warnings']

function named<Names extends string>(
  table: Readonly<Record<Names, readonly [on: Bench['on'], does: string]>>,
) {
  const rows = Object.entries<readonly [Bench['on'], string]>(table)
  const benches = rows.map(([name, [on, does]]) => [
    name,
    { file: `${name}.ts`, on, does, options: OPTIONS },
  ])
  return Object.fromEntries(benches) as Readonly<Record<Names, Bench>> // by the same names
}

export const BENCHES = named({
  micro: ['built', "one verification, beside peers and the platform's own call"],
  algorithms: ['built', 'the same with other algorithms and sizes of key'],
  guards: ['built', 'what a guard adds to a request, over sockets in memory'],
  http: ['built', 'guarded routes beside open ones'],
  dpop: ['built', "a DPoP proof, and a request with one, beside the platform's own call"],
  metrics: ['source', 'what metrics cost a guarded request'],
  latency: ['built', 'waits in rotations, floods and refreshes; --refresh, --loops: one part'],
  placement: ['built', 'where signatures are checked: the rule beside its alternatives'],
  memory: ['built', 'heap for each token and proof, and growth after millions'],
  packages: ['packed', 'install size and import time of every package beside its alternatives'],
  fleet: ['source', 'what many processes ask of the key endpoint and of Redis, simulated'],
  revocations: ['source', 'a replica of revocations beside a GET, and how soon it knows'],
  refusals: ['built', 'what hostile tokens cost'],
  starts: ['source', 'what it takes to start, from the start of the process'],
})

/** Those that have floors: `pnpm bench --check` prints which are missed. CI runs it, and only a bench that breaks fails. */
export const CHECKED: readonly (keyof typeof BENCHES)[] = ['micro', 'guards', 'starts', 'metrics']
