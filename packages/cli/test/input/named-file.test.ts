import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { systemClock } from '@portcullis/kit/time'
import { manualClock } from '@portcullis/testing'
import { afterAll, describe, expect, test } from 'vitest'

import { readNamedFile, readTextFile } from '../../src/input/named-file.ts'
import { runProgram } from '../run-program.ts'

const cwd = mkdtempSync(join(tmpdir(), 'named-file-'))
const { signal } = new AbortController()
const context = { cwd, signal, clock: systemClock }

afterAll(() => {
  rmSync(cwd, { recursive: true })
})

let pipes = 0

function createPipe(): string {
  const name = `pipe-${(pipes += 1)}`
  execFileSync('mkfifo', [join(cwd, name)])
  return name
}

/** The clock, and when the reader has begun to wait by it. */
function noticingClock() {
  const clock = manualClock()
  const waiting = new AbortController()
  const begun = once(waiting.signal, 'abort')
  const after: typeof clock.after = (...given) => {
    waiting.abort()
    return clock.after(...given)
  }
  const advance = async (seconds: number) => {
    await clock.advance(seconds)
  }
  return { clock: { ...clock, after }, advance, begun }
}

test('a file is read whole, by its name in the folder', async () => {
  const octets = Buffer.alloc(16 * 1024 * 1024, 'a')
  writeFileSync(join(cwd, 'file'), octets)
  expect((await readNamedFile('file', context)).equals(octets)).toBe(true)
  writeFileSync(join(cwd, 'file'), 'é')
  expect(await readTextFile(join(cwd, 'file'), context)).toBe('é')
})

test('a pipe is read until its writers have gone', async () => {
  const name = createPipe()
  const reading = readTextFile(name, context)
  const writer = await open(join(cwd, name), 'w')
  await writer.write('one, ')
  await writer.write('two')
  await writer.close()
  expect(await reading).toBe('one, two')
})

describe('what has no end', () => {
  test('is left after 16 MiB', async () => {
    const message = 'the file /dev/zero has more than 16 MiB'
    await expect(readTextFile('/dev/zero', context)).rejects.toMatchObject({ message, exitCode: 2 })
  })

  test('is left after 30 seconds, where somebody writes no more', async () => {
    const { clock, advance, begun } = noticingClock()
    const name = createPipe()
    const reading = readTextFile(name, { ...context, clock })
    const writer = await open(join(cwd, name), 'w')
    await writer.write('a')
    const message = `the file ${name} does not end within 30 s`
    await begun
    const [outcome] = await Promise.allSettled([reading, advance(30)])
    expect(outcome).toMatchObject({ reason: { message, exitCode: 2 } })
    await writer.close()
  })

  test('is left at once where the command is interrupted', async () => {
    const interrupted = new AbortController()
    const reading = readTextFile(createPipe(), { ...context, signal: interrupted.signal })
    interrupted.abort()
    await expect(reading).rejects.toMatchObject({ message: 'interrupted', exitCode: 130 })
  })
})

test.each<string[]>([
  ['decode', '--file'],
  ['explain', '--file'],
  ['explain', 'a.b.c', '--keys-file'],
  ['explain', 'opaque', '--client-id', 'a', '--client-secret-file'],
  ['keys'],
  ['probe', 'http://127.0.0.1:1/', '--file'],
  ['probe', 'http://127.0.0.1:1/', '--expired-file'],
  ['probe', 'http://127.0.0.1:1/', '--openapi'],
  ['serve', '--config'],
])('30 seconds are the limit of every command: %s %s %s %s %s', async (...args) => {
  const { clock, advance, begun } = noticingClock()
  const name = createPipe()
  const running = runProgram([...args, name], { cwd, clock })
  await Promise.race([begun, running])
  await advance(30)
  const { exitCode, stderr } = await running
  expect([exitCode, stderr]).toEqual([
    2,
    expect.stringContaining(`the file ${name} does not end within 30 s\n`),
  ])
})
