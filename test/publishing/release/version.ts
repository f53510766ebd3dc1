import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// Writes the version of core's package.json into its source: `pnpm release version`, after `changeset version`.

const core = join(import.meta.dirname, '..', '..', '..', 'packages', 'core')
const { version } = JSON.parse(readFileSync(join(core, 'package.json'), 'utf8')) as {
  version: string
}
const source = join(core, 'src', 'ground', 'version.ts')
const text = readFileSync(source, 'utf8')
writeFileSync(source, text.replace(/(?<=VERSION = ')[^']*/, version))
