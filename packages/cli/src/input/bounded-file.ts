import { open } from 'node:fs/promises'
import { resolve } from 'node:path'

import { errorCode, usageError } from '../surroundings/exit-code.ts'
import type { Context } from '../surroundings/terminal.ts'

// Reads a file that somebody else may have written, up to a limit.

/** Octets, as many as a command reads of an answer. */
const MAX_OCTETS = 16 * 1024 * 1024

/** @throws CommandError without the content. */
export async function readBoundedFile(
  path: string,
  { cwd, signal }: Pick<Context, 'cwd' | 'signal'>,
): Promise<string> {
  const chunks: Buffer[] = []
  try {
    const file = await open(resolve(cwd, path))
    // One octet more than is permitted, so that a longer file is seen to be longer.
    const stream = file.createReadStream({ end: MAX_OCTETS, signal })
    for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk)
  } catch (error) {
    throw usageError(`the file ${path} cannot be read (${errorCode(error) ?? 'error'})`)
  }
  const octets = Buffer.concat(chunks)
  if (octets.length > MAX_OCTETS) throw usageError(`the file ${path} has more than 16 MiB`)
  return octets.toString('utf8')
}
