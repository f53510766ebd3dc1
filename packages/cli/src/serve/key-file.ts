import { randomBytes } from 'node:crypto'
import { constants, type FileHandle, open, rename, rm } from 'node:fs/promises'

import { parseJson } from '@portcullis/kit/json'
import type { TestIssuerOptions } from '@portcullis/testing'

import { errorCode, usageError } from '../surroundings/exit-code.ts'

// Reads and writes the file of `--private-key-file`, safely in a folder that others can write to.

/** Bytes. Three keys of 16,384 bits have fewer. */
const MAX_OCTETS = 65_536

/** A file of somebody else is refused, and a link: others may have put it there. Everything is asked of the file that is open. */
export async function readKeyFile(path: string): Promise<TestIssuerOptions['key']> {
  try {
    // Windows has neither flag. Without O_NONBLOCK the open of a named pipe would wait for a writer.
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      await checkFile(file, path)
      return keyIn(await file.readFile('utf8'), path)
    } finally {
      await file.close()
    }
  } catch (error) {
    const code = errorCode(error)
    if (code === undefined) throw error
    if (code === 'ENOENT') return undefined
    if (code === 'ELOOP') throw usageError(`${path} is a link: state the file itself`)
    throw usageError(`${path} cannot be read (${code})`)
  }
}

async function checkFile(file: FileHandle, path: string): Promise<void> {
  const status = await file.stat()
  if (!status.isFile()) throw usageError(`${path} is no file`)
  // Windows has no such users and modes.
  if (process.getuid !== undefined) {
    if (status.uid !== process.getuid()) throw usageError(`${path} belongs to another user`)
    if ((status.mode & 0o077) !== 0) {
      throw usageError(`${path} can be read by others; run: chmod 600 ${path}`)
    }
  }
  if (status.size > MAX_OCTETS) throw usageError(`${path} is too large for a key`)
}

function keyIn(text: string, path: string): TestIssuerOptions['key'] {
  if (!text.trimStart().startsWith('{')) return text
  const value = parseJson(text)
  if (value === undefined) throw usageError(`${path} is neither PEM nor a JWK`)
  return value as Exclude<TestIssuerOptions['key'], string> // testing checks what it is
}

/**
 * Only its owner can read it, and whoever reads meanwhile finds the old text or the new one. The new file beside it has a name that
 * nobody can foresee, and `wx` follows no link; the rename replaces a link at `path`.
 */
export async function writeSecretFile(path: string, text: string): Promise<void> {
  const beside = `${path}.${randomBytes(12).toString('base64url')}.tmp`
  try {
    const file = await open(beside, 'wx', 0o600)
    try {
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
