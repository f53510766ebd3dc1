// Which Nodes and compilers the packages are tried with: the oldest and the newest, or with `--all` every one that is supported.
// What fails with one in the middle alone is rare, and most of the time is spent on them.

const EVERY_NODE = ['20.19.0', '22.13.0', '24.21.0', '26.10.0'] as const
export type NodeVersion = (typeof EVERY_NODE)[number]

const EVERY_COMPILER = ['5.9.3', '6.0.3', '7.0.2'] as const
export type Compiler = (typeof EVERY_COMPILER)[number]

export const isComplete = process.argv.includes('--all')
/** Whether `pnpm build` has been run a moment ago. */
export const isBuilt = process.argv.includes('--built')

export const OLDEST_NODE = '20.19.0' satisfies NodeVersion
export const NEWEST_NODE = '26.10.0' satisfies NodeVersion
/** The Nodes that the packages are run on: the oldest that is supported, and the newest, of each line. */
export const NODES: readonly NodeVersion[] = isComplete ? EVERY_NODE : [OLDEST_NODE, NEWEST_NODE]

export const NEWEST_COMPILER = '7.0.2' satisfies Compiler
const OLDEST_COMPILER = '5.9.3' satisfies Compiler
const FIRST_AND_LAST: readonly Compiler[] = [OLDEST_COMPILER, NEWEST_COMPILER]
export const COMPILERS: readonly Compiler[] = isComplete ? EVERY_COMPILER : FIRST_AND_LAST
/** What compiles a setting that each of them takes: in the short form the newest alone, since the oldest takes longest. */
export const SHARED_BY: readonly Compiler[] = isComplete ? EVERY_COMPILER : [NEWEST_COMPILER]
/** What compiles what is the same in all versions: fewer of them. */
export const ANY_COMPILER: readonly Compiler[] = isComplete ? FIRST_AND_LAST : [NEWEST_COMPILER]

/** What `@portcullis/metrics` makes metrics for. */
export const METRICS_PACKAGES = { '@opentelemetry/api': '1.10.0', 'prom-client': '15.1.3' } as const
