import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'

import { publishedWith, withLinks } from '../documents.ts'
import { manifestPaths } from '../published.ts'
import { addressOf, repositoryNamed, withAddress, withReporting } from './address.ts'

// Writes into each package where its sources are, into what is published with it where the documents are that it names, and into the
// first pages where to report a vulnerability:
// `pnpm release repository https://github.com/OWNER/NAME`, in the root. With `--dry-run` it shows all of that, and writes nothing.

const { values, positionals } = parseArgs({
  options: { 'dry-run': { type: 'boolean', default: false } },
  allowPositionals: true,
})
const name = repositoryNamed(positionals[0])
const page = `https://github.com/${name}`
for (const path of manifestPaths) {
  change(path, (text) => {
    const manifest = JSON.parse(text) as Record<string, unknown>
    return `${JSON.stringify(withAddress(manifest, addressOf(name, folderOf(path))), null, 2)}\n`
  })
  for (const document of publishedWith(basename(folderOf(path)))) {
    const place = join(folderOf(path), document)
    // SKILL.md is written from other documents, which would take the links away again.
    if (document === 'SKILL.md' || !existsSync(place)) continue
    change(place, (text) => withLinks(text, basename(folderOf(path)), page))
  }
}
for (const document of ['README.md', 'SECURITY.md']) {
  change(document, (text) => withReporting(text, name))
}
if (values['dry-run']) console.log('Nothing was written.')

function folderOf(path: string): string {
  return dirname(path).replaceAll('\\', '/')
}

/** Says each address that the new text has in more places than the old one. */
function change(path: string, made: (text: string) => string): void {
  const before = readFileSync(path, 'utf8')
  const after = made(before)
  if (after === before) return
  console.log(`${path}:`)
  const [old, now] = [before, after].map(addressesIn)
  for (const [address, count] of now ?? []) {
    const more = count - (old?.get(address) ?? 0)
    if (more > 0) console.log(`  ${address}${more > 1 ? `, in ${more} places` : ''}`)
  }
  if (!values['dry-run']) writeFileSync(path, after)
}

function addressesIn(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const [address] of text.matchAll(/(?:git\+)?https:\/\/github\.com\/[^\s)"]+/g))
    counts.set(address, (counts.get(address) ?? 0) + 1)
  return counts
}
