import { parseArgs } from 'node:util'

// `pnpm test:packed`, with `--all` on every supported Node (versions.ts), or with `--node PATH` on one that is installed already. With
// `--built` it packs what `pnpm build` has made, and does not build.

const { values } = parseArgs({
  options: { all: { type: 'boolean' }, built: { type: 'boolean' }, node: { type: 'string' } },
})
if (values.node === undefined) await import('./run.ts')
else await import('./one-node.ts')
