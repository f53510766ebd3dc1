import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The line in which an example takes a port. Port 0 is none that another could have. */
const LISTENING = /^(?:await )?(?:\w+\.(?:listen|start)\((?!0)|serve\().*/gm

export interface WrittenExamples {
  /** Runs code of a document as a file of its own, as it stands, except that it takes no port. Answers what it exports. */
  run(name: string, code: string, ending?: string): Promise<unknown>
  /** Writes code as a file of its own, and answers where it is. */
  write(name: string, code: string): string
  remove(): void
}

/** @param folder Where they are written: in `test`, so that they find the packages that they import. One for each caller. */
export function writtenExamples(folder: string): WrittenExamples {
  const written = join(fileURLToPath(new URL('..', import.meta.url)), folder)
  mkdirSync(written, { recursive: true })
  function write(name: string, code: string): string {
    const file = join(written, `${name.replaceAll('/', '-')}.ts`)
    writeFileSync(file, code)
    return file
  }

  return {
    write,
    async run(name, code, ending = '') {
      const file = write(name, code.replaceAll(LISTENING, '') + ending)
      return (await import(file)) as unknown
    },
    remove() {
      rmSync(written, { recursive: true, force: true })
    },
  }
}
