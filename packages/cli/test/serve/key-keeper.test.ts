import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createTestIssuer } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { createKeyKeeper } from '../../src/serve/key-keeper.ts'
import { setUp } from './service-for-test.ts'

/** Writes that end when the test says so. */
function slowFile() {
  const texts: string[] = []
  const waiting: (() => void)[] = []
  let open = 0
  let most = 0
  return {
    texts,
    most: () => most,
    next: () => waiting.shift()?.(),
    waiting: () => waiting.length,
    write: async (_path: string, text: string) => {
      open += 1
      most = Math.max(most, open)
      await new Promise<void>((resolve) => waiting.push(resolve))
      texts.push(text)
      open -= 1
    },
  }
}

const written = async (file: ReturnType<typeof slowFile>) => {
  await expect.poll(file.waiting, { interval: 1 }).toBe(1)
  file.next()
}

test('one write at a time, and the last has the keys as they are then', async () => {
  const file = slowFile()
  const issuer = await createTestIssuer({ algorithm: 'ES256' })
  const keeper = createKeyKeeper('keys.json', () => undefined, file.write)
  const first = keeper.keep(issuer)
  await issuer.rotate()
  const second = keeper.keep(issuer)
  await issuer.rotate()
  const third = keeper.keep(issuer)
  await written(file)
  await written(file)
  await written(file)
  await Promise.all([first, second, third, keeper.settled()])
  expect(file.most()).toBe(1)
  expect(JSON.parse(file.texts.at(-1) ?? '')).toEqual(
    JSON.parse(JSON.stringify(await issuer.privateKeys())),
  )
})

test('a write that fails is reported once, and the next one begins all the same', async () => {
  const failures: string[] = []
  const texts: string[] = []
  const keeper = createKeyKeeper('keys.json', failures.push.bind(failures), async (_, text) => {
    await Promise.resolve()
    if (texts.push(text) === 1) throw new Error('EROFS')
  })
  const issuer = await createTestIssuer({ algorithm: 'ES256' })
  const outcomes = await Promise.allSettled([keeper.keep(issuer), keeper.keep(issuer)])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  expect(failures).toEqual(['these keys cannot be kept: EROFS; a restart would not have them'])
})

test.each(['rotate', 'rollback', 'complete'])(
  '%s: 500 if the keys cannot be kept, and the service goes on with them',
  async (operation) => {
    let isFull = false
    const keeper = createKeyKeeper(
      'keys.json',
      () => undefined,
      async () => {
        await Promise.resolve()
        if (isFull) throw new Error('EROFS')
      },
    )
    const own = await setUp({}, undefined, keeper)
    await own.post('rotate', { publish: 'later' })
    isFull = true
    const response = await own.post(operation)
    expect(response.status).toBe(500)
    expect(await response.json()).toEqual({
      error: 'done, but these keys cannot be kept: EROFS; a restart would not have them',
    })
    expect(own.service.log.after(1)).toHaveLength(1)
    isFull = false
    expect((await own.post('rotate')).status).toBe(200)
  },
)

test('nothing is left beside the file, whether it could be written or not', async () => {
  const folder = temporaryFolder()
  const issuer = await createTestIssuer({ algorithm: 'ES256' })
  const path = join(folder, 'keys.json')
  await createKeyKeeper(path, () => undefined).keep(issuer)
  // A folder in its place cannot be replaced by a file.
  const failing = createKeyKeeper(join(folder, '.'), () => undefined)
  await expect(failing.keep(issuer)).rejects.toThrow('cannot be kept')
  expect(await readdir(folder)).toEqual(['keys.json'])
  expect(JSON.parse(await readFile(path, 'utf8'))).toHaveProperty('signing.d')
})
