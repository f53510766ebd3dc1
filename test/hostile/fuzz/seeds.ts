import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The seeds of all targets: a folder for each. */
export const seedsFolder = fileURLToPath(new URL('seeds', import.meta.url))

/** The seeds of a target by the names of their files: a text as it is, or as a JSON string. */
export function readSeeds(target: string): readonly { name: string; input: string }[] {
  return readdirSync(`${seedsFolder}/${target}`)
    .toSorted()
    .map((name) => ({ name, input: readSeed(`${seedsFolder}/${target}/${name}`) }))
}

function readSeed(file: string): string {
  const text = readFileSync(file, 'utf8')
  return file.endsWith('.json') ? String(JSON.parse(text)) : text
}

/** Keeps an input for good, each of its characters: `pnpm test` runs every seed. */
export function addSeed(target: string, input: string, folder: string): string {
  const digest = createHash('sha256').update(input).digest('hex').slice(0, 12)
  const file = `${folder}/${target}/found-${digest}.json`
  writeFileSync(file, `${JSON.stringify(input)}\n`)
  return file
}
