import { AuthError, createVerifier } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import type { RedisRevocations } from '../../src/revocations/redis-revocations.ts'
import type { FakeStore } from '../store/fake-store.ts'
import { following, MAX_STALENESS, processes } from './processes.ts'

async function refusalBy(revocations: RedisRevocations): Promise<AuthError> {
  const issuer = await createTestIssuer({ algorithm: 'ES256' })
  const verifier = createVerifier({ ...issuer.verifierOptions, revocations })
  const refusal: unknown = await verifier
    .verify(await issuer.token())
    .catch((error: unknown) => error)
  expect(refusal).toMatchObject({ code: 'revocation_unavailable', reason: 'stale', status: 503 })
  expect(refusal).toBeInstanceOf(AuthError)
  return refusal as AuthError
}

const UNREACHABLE = 'no connection to the store of revocations'
const NEVER = 'the stream of revocations was never read completely'
const NO_STREAM =
  'the stream of revocations or its identity does not exist: an operator creates it with `portcullis-revocations create`'

describe('the detail of the refusal says why it is not known whether a token was revoked', () => {
  test('nothing was read yet', async () => {
    const { store, start } = processes()
    store.mode = 'silent'
    const { detail } = await refusalBy(start())
    expect(detail).toBe(`revocations answered unknown: ${NEVER}`)
  })

  test('the store was never reached', async () => {
    const { store, start } = processes()
    store.mode = 'unreachable'
    const replica = start()
    await expect(replica.ready()).rejects.toMatchObject({ reason: 'unreachable' })
    const { detail } = await refusalBy(replica)
    expect(detail).toBe(
      `revocations answered unknown: ${NEVER}; the last attempt: ${UNREACHABLE}: ECONNREFUSED`,
    )
  })

  test('nobody has created the stream', async () => {
    const replica = processes().start()
    await expect(replica.ready()).rejects.toMatchObject({ reason: 'no_stream' })
    expect((await refusalBy(replica)).detail).toBe(`revocations answered unknown: ${NO_STREAM}`)
  })

  test('the store was reached once, and is down', async () => {
    const { replica, store, clock } = await following()
    store.mode = 'unreachable'
    store.cut()
    await clock.advance(MAX_STALENESS + 1)
    expect((await refusalBy(replica)).detail).toBe(
      'revocations answered unknown: the stream of revocations was last read completely longer ago than maxStaleness; the last attempt: no connection to the store of revocations: ECONNREFUSED',
    )
  })

  test.each<[title: string, fault: (store: FakeStore) => void, why: string]>([
    [
      'it is another stream',
      (store) => {
        store.data = new Map()
        store.create('second')
      },
      'the stream of revocations is not the one that was followed: it may lack entries',
    ],
    [
      'a record cannot be read',
      (store) => void store.add(['v', '9']),
      'the stream of revocations has a record that this version cannot read',
    ],
  ])('%s', async (_, fault, why) => {
    const { replica, store, clock } = await following()
    fault(store)
    await clock.advance(MAX_STALENESS)
    expect((await refusalBy(replica)).detail).toBe(`revocations answered unknown: ${why}`)
  })

  test('it was closed', async () => {
    const { replica } = await following()
    await replica.close()
    expect((await refusalBy(replica)).detail).toBe(
      'revocations answered unknown: the replica of revocations has been closed',
    )
  })

  test('nothing, when all is well', async () => {
    const { replica } = await following()
    expect(replica.whyUnknown()).toBeUndefined()
  })
})

test('ready of a verifier says why as well', async () => {
  const issuer = await createTestIssuer({ algorithm: 'ES256' })
  const { clock, start } = processes()
  const verifier = createVerifier({ ...issuer.verifierOptions, revocations: start() })
  const failure = verifier.ready().catch((error: unknown) => error)
  await clock.advance(MAX_STALENESS)
  expect(await failure).toMatchObject({
    code: 'revocation_unavailable',
    detail: `revocations failed: ${NO_STREAM}; cause says why`,
  })
})
