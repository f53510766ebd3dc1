import { constants, createReadStream, fstat, open } from 'node:fs'
import { Socket } from 'node:net'
import { resolve } from 'node:path'
import { addAbortSignal, type Readable } from 'node:stream'
import { promisify } from 'node:util'

import { CommandError, errorCode, EXIT, usageError } from '../surroundings/exit-code.ts'
import { withinSeconds } from '../surroundings/interruption.ts'
import type { Context } from '../surroundings/terminal.ts'

// Reads the files that a user names. They may be of somebody else, and have no end: a pipe, a device.

/** Octets, as many as a command reads of an answer. */
const MAX_OCTETS = 16 * 1024 * 1024

/** Seconds, as long as a command waits for an answer. */
const TIMEOUT = 30

type Reading = Pick<Context, 'clock' | 'cwd' | 'signal'>

export async function readTextFile(path: string, context: Reading): Promise<string> {
  return (await readNamedFile(path, context)).toString('utf8')
}

/** @throws CommandError without the content. */
export async function readNamedFile(path: string, context: Reading): Promise<Buffer> {
  const { cwd, signal } = context
  return await withinSeconds(TIMEOUT, context, async (end) => {
    try {
      const stream = addAbortSignal(
        AbortSignal.any([end, signal]),
        await openStream(resolve(cwd, path)),
      )
      return await octetsOf(stream, path)
    } catch (error) {
      if (error instanceof CommandError) throw error
      if (signal.aborted) throw new CommandError(EXIT.interrupted, 'interrupted')
      if (end.aborted) throw usageError(`the file ${path} does not end within ${TIMEOUT} s`)
      throw usageError(`the file ${path} cannot be read (${errorCode(error) ?? 'error'})`)
    }
  })
}

/**
 * A pipe is waited for as a socket is. As a file, it would be waited for in a thread, which nothing ends: the process could not exit.
 * The stream closes what is opened here.
 */
async function openStream(path: string): Promise<Readable> {
  // Without O_NONBLOCK, which Windows does not have, the open of a pipe would wait for a writer.
  const fd = await promisify(open)(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const status = await promisify(fstat)(fd)
  return status.isFIFO()
    ? new Socket({ fd, readable: true, writable: false })
    : createReadStream(path, { fd })
}

async function octetsOf(stream: Readable, path: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let octets = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    octets += chunk.length
    if (octets > MAX_OCTETS) throw usageError(`the file ${path} has more than 16 MiB`)
  }
  return Buffer.concat(chunks)
}
