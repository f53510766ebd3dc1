import type { Program, Programs } from '../choose.ts'

// The benches by name: `pnpm bench NAME` runs one, and each has flags of its own.

export interface Bench extends Program {
  /** The packages as they would be published, in any Node; or their sources; `packed`: it packs and installs them itself. */
  readonly on: 'built' | 'source' | 'packed'
}

const GC = ['--expose-gc', '--no-warnings']

export const BENCHES = {
  micro: {
    file: 'micro.ts',
    on: 'built',
    options: GC,
    does: "one verification, beside peers and the platform's own call",
  },
  algorithms: {
    file: 'algorithms.ts',
    on: 'built',
    options: GC,
    does: 'the same with other algorithms, sizes of key, and a set of 20 keys',
  },
  guards: {
    file: 'guards.ts',
    on: 'built',
    options: GC,
    does: 'what a guard adds to a request, over sockets in memory',
  },
  http: {
    file: 'http.ts',
    on: 'built',
    options: GC,
    does: 'guarded routes beside open ones; --dpop: bound tokens',
  },
  dpop: {
    file: 'bound-tokens.ts',
    on: 'built',
    options: GC,
    does: "a DPoP proof, and a request with one, beside the platform's own call",
  },
  replays: {
    file: 'replays.ts',
    on: 'source',
    options: GC,
    does: 'what it costs to remember used proofs, in the process and in Redis',
  },
  metrics: {
    file: 'metrics.ts',
    on: 'source',
    options: GC,
    does: 'what metrics cost a guarded request',
  },
  latency: {
    file: 'latency.ts',
    on: 'built',
    options: GC,
    does: 'how long verifications take through rotations and floods; --loops: loops alone',
  },
  placement: {
    file: 'placement.ts',
    on: 'built',
    options: GC,
    does: 'where signatures are checked: the rule beside its alternatives',
  },
  memory: {
    file: 'memory.ts',
    on: 'built',
    options: GC,
    does: 'heap for each token, and growth after millions',
  },
  packages: {
    file: 'packages.ts',
    on: 'packed',
    does: 'install size and import time of every package beside its alternatives',
  },
  refresh: {
    file: 'refresh.ts',
    on: 'built',
    options: GC,
    does: 'how long known keys wait for a refresh',
  },
  rotation: { file: 'rotation-peers.ts', on: 'source', does: 'a rotation of keys, beside peers' },
  fleet: {
    file: 'fleet.ts',
    on: 'source',
    does: 'what many processes ask of the key endpoint and of Redis, simulated',
  },
  revocations: {
    file: 'revocations.ts',
    on: 'source',
    options: GC,
    does: 'a look-up of revocations beside a GET',
  },
  refusals: { file: 'refusals.ts', on: 'built', options: GC, does: 'what hostile tokens cost' },
  corpus: {
    file: 'corpus.ts',
    on: 'source',
    options: GC,
    does: 'what each hostile token of the corpus costs',
  },
  starts: {
    file: 'starts.ts',
    on: 'source',
    options: ['--no-warnings'],
    does: 'what it takes to start, from the start of the process',
  },
} as const satisfies Programs<Bench>

/** Those that have floors: `pnpm bench --check` prints which are missed. CI runs it, and only a bench that breaks fails. */
export const CHECKED: readonly (keyof typeof BENCHES)[] = ['micro', 'guards', 'starts', 'metrics']
