import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// Writes the version of core's package.json into its source, and that of the family into the image of the example:
// `pnpm release version`, after `changeset version`.

const root = join(import.meta.dirname, '..', '..', '..')
const core = join(root, 'packages', 'core')
const { version } = JSON.parse(readFileSync(join(core, 'package.json'), 'utf8')) as {
  version: string
}
for (const [path, place] of [
  [join(core, 'src', 'ground', 'version.ts'), /(?<=VERSION = ')[^']*/],
  [
    join(root, 'examples', 'kubernetes', 'image', 'package.json'),
    /(?<="@portcullis\/.*": ")[^"]*/g,
  ],
] as const) {
  writeFileSync(path, readFileSync(path, 'utf8').replace(place, version))
}
