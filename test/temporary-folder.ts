import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { onTestFinished } from 'vitest'

/**
 * A new folder, which a test does not leave behind.
 *
 * @param then When it is removed: outside of a test pass `afterAll`.
 */
export function temporaryFolder(then: (remove: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-'))
  then(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}
