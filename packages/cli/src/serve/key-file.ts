import { open, readFile, rename, rm, stat } from 'node:fs/promises'

import type { TestIssuerOptions } from '@portcullis/testing'

import { errorCode } from '../error-code.ts'
import { usageError } from '../exit-code.ts'

/** The private key of an earlier run; `undefined` if there is no such file yet. */
export async function readKeyFile(path: string): Promise<TestIssuerOptions['key']> {
  try {
    const { mode } = await stat(path)
    // Windows has no such modes: there they say nothing.
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw usageError(`${path} can be read by others; run: chmod 600 ${path}`)
    }
    return keyIn(await readFile(path, 'utf8'), path)
  } catch (error) {
    const code = errorCode(error)
    if (code === undefined) throw error
    if (code === 'ENOENT') return undefined
    throw usageError(`${path} cannot be read (${code})`)
  }
}

/** PEM, or a JWK, which is what we write. */
function keyIn(text: string, path: string): TestIssuerOptions['key'] {
  if (!text.trimStart().startsWith('{')) return text
  try {
    return JSON.parse(text) as Exclude<TestIssuerOptions['key'], string> // testing checks what it is
  } catch {
    // The error of JSON.parse shows the text.
    throw usageError(`${path} is neither PEM nor a JWK`)
  }
}

/** Writes a file that only its owner can read. Who reads it meanwhile finds the old text or the new one. */
export async function writeSecretFile(path: string, text: string): Promise<void> {
  const beside = `${path}.${process.pid}.tmp`
  try {
    const file = await open(beside, 'w', 0o600)
    try {
      // A file that was left there keeps its mode otherwise.
      await file.chmod(0o600)
      await file.writeFile(text)
    } finally {
      await file.close()
    }
    await rename(beside, path)
  } catch (error) {
    // It may hold the private key. That it cannot be removed is no news: it could not be written.
    await rm(beside, { force: true }).catch(() => undefined)
    const code = errorCode(error)
    throw code === undefined ? error : usageError(`${path} cannot be written (${code})`)
  }
}
