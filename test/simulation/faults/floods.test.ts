import { expect, test } from 'vitest'

import { follow } from './following.ts'
import { createKeyEndpoint } from './key-endpoint.ts'
import { bombs, flooding, MIB, serve, stalling } from './misbehaviours.ts'
import { oldJwk, oldToken } from './tokens.ts'

test.each([...stalling, ...flooding])(
  'the endpoint $name: the client hangs up before much has been sent',
  async ({ behave, reason }) => {
    await using endpoint = await createKeyEndpoint()
    endpoint.answerWith(behave)
    expect(await follow(endpoint).verdict(oldToken())).toBe(`keys_unavailable: ${reason}`)
    // 1 MiB, and what the buffers of two sockets hold.
    expect(await endpoint.closed()).toBeLessThan(8 * MIB)
    expect(endpoint.requests).toBe(1)
  },
)

test.each([...flooding, ...bombs])(
  'the endpoint $name: no more is read than a document may have',
  async ({ behave, reason }) => {
    await using endpoint = await createKeyEndpoint()
    const { verdict, refresh } = follow(endpoint)
    endpoint.answerWith(serve(oldJwk), behave)
    expect(await verdict(oldToken())).toBe('accepted')
    await endpoint.pass(1)
    expect(await refresh()).toBe(`keys_unavailable: ${reason}`)
    // What is read beyond the limit is in one chunk, or nothing where the length is announced.
    expect(endpoint.taken).toBeLessThan(2 * MIB)
    expect(endpoint.requests).toBe(2)
    expect(await verdict(oldToken())).toBe('accepted')
  },
)
