import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

import { publishedWith, withLinks } from '../documents.ts'
import { manifestPaths } from '../published.ts'
import { addressOf, repositoryNamed, withAddress, withReporting } from './address.ts'

// Writes into each package where its sources are, into what is published with it where the documents are that it names, and into the
// first pages where to report a vulnerability:
// `pnpm release repository https://github.com/OWNER/NAME`, in the root.

const name = repositoryNamed(process.argv[2])
for (const path of manifestPaths) {
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
  const directory = dirname(path).replaceAll('\\', '/')
  const changed = withAddress(manifest, addressOf(name, directory))
  writeFileSync(path, `${JSON.stringify(changed, null, 2)}\n`)
  for (const document of publishedWith(basename(directory))) {
    const place = join(directory, document)
    // SKILL.md is written from other documents, which would take the links away again.
    if (document === 'SKILL.md' || !existsSync(place)) continue
    const text = readFileSync(place, 'utf8')
    writeFileSync(place, withLinks(text, basename(directory), `https://github.com/${name}`))
  }
  console.log(`${path}: ${name}`)
}
for (const document of ['README.md', 'SECURITY.md']) {
  writeFileSync(document, withReporting(readFileSync(document, 'utf8'), name))
}
