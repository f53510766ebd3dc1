import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { root } from './entries.ts'
import { writtenFiles } from './written.ts'

// The first half of `pnpm write`; the second is report.ts, for which the packages have to be built.

for (const { path, text } of writtenFiles()) {
  const place = join(root, path)
  if (existsSync(place) && readFileSync(place, 'utf8') === text) continue
  writeFileSync(place, text)
  console.log(`${path} is rewritten`)
}
