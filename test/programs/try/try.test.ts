import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { text as textOf } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { linesOf } from '../../../packages/cli/src/try/lines.ts'
import { storyOf } from '../../../packages/cli/src/try/story.ts'
import { createTally } from '../../../packages/cli/src/try/tally.ts'
import { file, pictureOf } from './picture.ts'

// `portcullis try` as a process: what it counts in a few seconds, and how it ends. And its picture.

interface Counts {
  readonly accepted: number
  readonly refused: number
  readonly firstOfNewKey: { readonly status: number; readonly seconds: number }
  readonly forgedRefused: number
  readonly forgedAccepted: number
  readonly keyRequests: number
  readonly keyRequestsInFlood: number
}

interface Result {
  readonly portcullis: Counts
  readonly jose: Counts
}

test('the first token of the new key is accepted, and a flood costs few requests for keys', async () => {
  const { exitCode, stdout, stderr } = await ended(started('--seconds', '6', '--json'))
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  const { portcullis, jose } = JSON.parse(stdout) as Result
  expect(portcullis).toMatchObject({
    refused: 0,
    firstOfNewKey: { status: 200 },
    forgedAccepted: 0,
  })
  expect(portcullis.accepted).toBeGreaterThan(4)
  expect(portcullis.forgedRefused).toBeGreaterThan(20)
  // One at the start, one for the new key, and in a flood at least a second between two.
  expect(portcullis.keyRequests).toBeLessThanOrEqual(2 + 4)
  expect(portcullis.keyRequestsInFlood).toBeLessThanOrEqual(4)
  // Of jose it is measured in the same run: it looks at the kid, which is the old one.
  expect(jose).toMatchObject({ firstOfNewKey: { status: 401 }, forgedAccepted: 0, keyRequests: 1 })
  expect(jose.accepted + jose.refused).toBe(portcullis.accepted)
  expect(jose.refused).toBeGreaterThan(0)
})

test('where stdout is no terminal it prints plain lines, and then what came of it', async () => {
  const { exitCode, stdout } = await ended(started('--seconds', '3'))
  expect(exitCode).toBe(0)
  // oxlint-disable-next-line no-control-regex -- that there are none is what is tested
  expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
  expect(stdout).toMatch(/^0 s: genuine tokens/)
  expect(stdout).toMatch(/^\d+ s: the service signs with a new key/m)
  expect(stdout).toMatch(/^\d+ s: 50 forged tokens a second as well/m)
  expect(stdout).toMatch(/Portcullis accepted all \d+ genuine tokens\. jose refused \d+ of \d+/)
})

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s ends it at once, and nothing listens any more',
  async (signal) => {
    const child = started('--seconds', '600')
    await once(child.stdout, 'data')
    child.kill(signal)
    const { exitCode } = await ended(child)
    expect(exitCode).toBe(130)
  },
  60_000,
)

test('the picture shows what the program shows: `node test/draw.ts try` draws it', () => {
  const story = storyOf(60, 'same')
  const tally = createTally(story.seconds)
  const playing = { tally, elapsed: () => 60, rotatedAt: () => 20, floodedAt: () => 35 }
  const drawn = wordsOf(pictureOf(linesOf(story, playing), ''))
  expect(wordsOf(readFileSync(file, 'utf8'))).toEqual(drawn)
  expect(drawn.length).toBeGreaterThan(12)
})

/** The texts of a picture, but for what a run counts. */
function wordsOf(svg: string): readonly string[] {
  return [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)]
    .map(([, text = '']) => text)
    .filter((text) => !/^(?:\d+|-|[+x]+)$/.test(text))
}

function started(...args: readonly string[]) {
  const main = fileURLToPath(new URL('../../../packages/cli/src/main.ts', import.meta.url))
  const node = ['--disable-warning=ExperimentalWarning', '--conditions=@portcullis/source']
  return spawn(process.execPath, [...node, main, 'try', ...args], { env: {} })
}

async function ended(child: ReturnType<typeof started>) {
  const [stdout, stderr] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    once(child, 'close'),
  ])
  return { exitCode: child.exitCode, stdout, stderr }
}
