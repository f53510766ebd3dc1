import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
/** Beside the sources, also when this is the copy in `built`. */
const folder = join(basename(here) === 'built' ? dirname(here) : here, 'results')

/** Keeps a chart that README.md shows. */
export function writeResult(file: string, text: string): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, file), text)
}
