import { cpSync, mkdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

import { manifestPaths } from '../published.ts'

// Puts what each package contains, as its tarball has it, beside each other into coverage/sbom: `pnpm release sbom`, after `pnpm build`.

const into = join('coverage', 'sbom')
mkdirSync(into, { recursive: true })
for (const path of manifestPaths) {
  const folder = dirname(path)
  cpSync(join(folder, 'sbom.cdx.json'), join(into, `portcullis-${basename(folder)}.cdx.json`))
}
console.log(into)
