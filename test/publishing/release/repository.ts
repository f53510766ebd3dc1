import { readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

import { manifestPaths } from '../published.ts'
import { addressOf, repositoryNamed, withAddress } from './address.ts'

// Writes into each package where its sources are: `pnpm release repository https://github.com/OWNER/NAME`, in the root.

const name = repositoryNamed(process.argv[2])
for (const path of manifestPaths) {
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
  const directory = dirname(path).replaceAll('\\', '/')
  const changed = withAddress(manifest, addressOf(name, directory))
  writeFileSync(path, `${JSON.stringify(changed, null, 2)}\n`)
  console.log(`${path}: ${name}`)
}
