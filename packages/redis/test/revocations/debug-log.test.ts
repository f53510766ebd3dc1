import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

// What is printed depends on the environment at start-up, so it is a process of its own.
const PROGRAM = `
  import { manualClock } from '@portcullis/testing'
  import { replicatedRevocations } from './src/revocations/redis-revocations.ts'
  import { fakeStore, KEY } from './test/store/fake-store.ts'
  const clock = manualClock()
  const store = fakeStore(clock)
  const settings = { stream: KEY, maxStaleness: 10, whenStale: 'refuse', max: 1000, clock }
  store.mode = 'unreachable'
  const replica = replicatedRevocations(settings, store.connect, () => 1)
  await clock.advance(60)
  store.mode = 'up'
  await clock.advance(60)
  store.create('first')
  await clock.advance(60)
  store.mode = 'unreachable'
  store.cut()
  await clock.advance(60)
  await replica.close()
`

async function printed(debug: string, program = PROGRAM, before = ''): Promise<readonly string[]> {
  const flags = ['--conditions=@portcullis/source', '--disable-warning=ExperimentalWarning']
  const preload = `data:text/javascript,${encodeURIComponent(before)}`
  const { stderr } = await promisify(execFile)(
    process.execPath,
    [...flags, '--import', preload, '--input-type=module', '--eval', program],
    {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: { ...process.env, NODE_DEBUG: debug },
      timeout: 100_000,
    },
  )
  return stderr
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replace(/^PORTCULLIS \d+: /, ''))
}

const UNREACHABLE = 'no connection to the store of revocations'
const NEVER = 'the stream of revocations was never read completely'
const NO_STREAM =
  'the stream of revocations or its identity does not exist: an operator creates it with `portcullis-revocations create`'

test('NODE_DEBUG=portcullis prints one line for each change of the state, however many attempts fail, and for each reading of the whole stream', async () => {
  const down = `the last attempt: ${UNREACHABLE}: ECONNREFUSED`
  const lines = await printed('portcullis')
  expect(lines.map((line) => line.replace(/[\d.]+ ms$/, 'N ms'))).toEqual([
    `revocations: loading: ${NEVER}; ${down}`,
    `revocations: missing: ${NO_STREAM}`,
    'revocations: read the whole stream (start): 1 records in N ms',
    'revocations: current',
    `revocations: stale: the stream of revocations was last read completely longer ago than maxStaleness; ${down}`,
    'revocations: closed: the replica of revocations has been closed',
  ])
})

const REPLAYS = `
  import { manualClock } from '@portcullis/testing'
  import { sharedReplays } from './src/replays/redis-replays.ts'
  import { checkRedisReplaysOptions } from './src/replays/options.ts'
  const clock = manualClock()
  const settings = checkRedisReplaysOptions({ url: 'redis://canary.test', clock })
  const replays = sharedReplays(settings, () => { throw new Error('canary') })
  const answer = replays.remember({ jkt: 'canary', jti: 'canary', expires: clock.now() + 60 }, clock.now())
  await clock.advance(10)
  await answer
`

test('of a proof that could not be looked up it prints one line, without an address and the proof', async () => {
  expect(await printed('portcullis', REPLAYS)).toEqual([
    expect.stringMatching(/^replays: unreachable: (?!.*canary)/),
  ])
  expect(await printed('', REPLAYS)).toEqual([])
})

test('without it nothing is printed', async () => {
  expect(await printed('')).toEqual([])
})

test('on a platform that enables every log, nothing is printed without NODE_DEBUG', async () => {
  // As in Cloudflare Workers.
  const enabled = `
    import { syncBuiltinESMExports } from 'node:module'
    import util from 'node:util'
    util.debuglog = () => Object.assign((...args) => console.error(util.format(...args)), { enabled: true })
    syncBuiltinESMExports()
  `
  expect(await printed('', PROGRAM, enabled)).toEqual([])
  expect((await printed('portcullis', PROGRAM, enabled)).length).toBeGreaterThan(0)
})
