import type { TestIssuer } from '@portcullis/testing'

import { InputError } from './input.ts'
import { writeSecretFile } from './key-file.ts'

// Saves the private keys after each change, so that a restart has them.

export type KeyKeeper = ReturnType<typeof createKeyKeeper>

/** @param path `undefined` keeps nothing. @param report Told of each failure, also where nobody waits for an answer. */
export function createKeyKeeper(
  path: string | undefined,
  report: (failure: string) => void,
  write: (path: string, text: string) => Promise<void> = writeSecretFile,
) {
  let last: Promise<void> = Promise.resolve()

  async function writeKeys(file: string, issuer: TestIssuer): Promise<void> {
    try {
      await write(file, `${JSON.stringify(await issuer.privateKeys())}\n`)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      const failure = `these keys cannot be kept: ${why}; a restart would not have them`
      report(failure)
      throw new InputError(failure, 500)
    }
  }

  return {
    /** One write at a time, so that the file ends with the last. @throws InputError if it cannot be written. */
    async keep(issuer: TestIssuer): Promise<void> {
      if (path === undefined) return
      const writing = last.then(async () => {
        await writeKeys(path, issuer)
      })
      last = writing.catch(() => {
        // Whoever asked for it is told. The next write begins all the same.
      })
      await writing
    },
    settled: async (): Promise<void> => {
      await last
    },
  }
}
