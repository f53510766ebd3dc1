import { parseArgs } from 'node:util'

// `pnpm test:packed`, with `--all` on every supported Node (versions.ts), or with `--node PATH` on one that is installed already.

const { values } = parseArgs({ options: { all: { type: 'boolean' }, node: { type: 'string' } } })
if (values.node === undefined) await import('./run.ts')
else await import('./one-node.ts')
