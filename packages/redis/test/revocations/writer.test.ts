import { localRevocations, type RevocationEntry } from '@portcullis/core'
import { manualClock } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { createOurs } from '../../src/revocations/ours.ts'
import { createRecorder } from '../../src/revocations/writer.ts'

const entryOf = (jti: string): RevocationEntry => ({ type: 'token', iss: 'https://a.test', jti })

test('what was recorded though another process has taken the last place is known here, so that it is written back', async () => {
  const clock = manualClock()
  const index = localRevocations({ max: 1, clock })
  const ours = createOurs(index, 1, clock)
  const appended: string[] = []
  const failures: string[] = []
  const record = createRecorder(
    {
      async append(_, onAppended) {
        index.load([entryOf('of another process')])
        onAppended('1-1')
      },
      close() {},
    },
    ours,
    (entries) => index.hasRoomFor(entries),
    ({ message }) => failures.push(message),
    (id) => appended.push(id),
  )
  await expect(record(entryOf('a'))).rejects.toMatchObject({
    reason: 'full',
    message: expect.stringContaining('it was recorded nevertheless') as string,
  })
  expect(failures).toHaveLength(1)
  expect(appended).toEqual(['1-1'])
  expect([...ours.entries()]).toEqual([entryOf('a'), entryOf('of another process')])
  expect(ours.statusOf({ iss: 'https://a.test', jti: 'a', iat: 1 }, 1)).toBe('revoked')
})
