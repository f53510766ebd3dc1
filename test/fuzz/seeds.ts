import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('seeds', import.meta.url))

/** The seeds of a target by the names of their files: a text as it is, or as a JSON string. */
export function readSeeds(target: string): readonly { name: string; input: string }[] {
  return readdirSync(`${folder}/${target}`)
    .toSorted()
    .map((name) => ({ name, input: readSeed(`${folder}/${target}/${name}`) }))
}

function readSeed(file: string): string {
  const text = readFileSync(file, 'utf8')
  return file.endsWith('.json') ? String(JSON.parse(text)) : text
}

/** Keeps an input for good, each of its characters: `pnpm test` runs every seed. */
export function addSeed(target: string, input: string): string {
  const digest = createHash('sha256').update(input).digest('hex').slice(0, 12)
  const file = `${folder}/${target}/found-${digest}.json`
  writeFileSync(file, `${JSON.stringify(input)}\n`)
  return file
}
