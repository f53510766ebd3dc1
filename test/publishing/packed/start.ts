import { parseArgs } from 'node:util'

// `pnpm test:packed`, on every supported Node, or with `--node PATH` on one that is installed already.

const { values } = parseArgs({ options: { node: { type: 'string' } } })
if (values.node === undefined) await import('./run.ts')
else await import('./one-node.ts')
