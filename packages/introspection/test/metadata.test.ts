import type { FetchResponse } from '@portcullis/core'
import { createRetry } from '@portcullis/kit/http'
import { manualClock } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { createDiscovery } from '../src/metadata.ts'
import { METADATA, settle } from './issuer.ts'

// Metadata on a runtime that ends the work of a request with it.

function setUp(answer: () => Response) {
  const clock = manualClock()
  const requests: number[] = []
  const state = { hangs: true }
  const discovery = createDiscovery({
    issuer: METADATA.issuer,
    allowInsecure: false,
    hasCertificate: false,
    timeout: 5,
    clock,
    retry: createRetry(),
    endsWithRequest: true,
    fetch: async (): Promise<FetchResponse> => {
      requests.push(clock.monotonic())
      return state.hangs ? await new Promise<never>(() => {}) : answer()
    },
  })
  return { clock, discovery, requests, state }
}

test.each([
  ['are read once for all who pause', () => Response.json(METADATA), 1, 'fulfilled'],
  [
    'that cannot be had: nobody asks before the pause that the server wants is over',
    () => new Response('', { status: 429, headers: { 'retry-after': '30' } }),
    1,
    'rejected',
  ],
])('behind a response that has gone, %s', async (_title, answer, reads, status) => {
  const { clock, discovery, requests, state } = setUp(answer)
  discovery.doubt()
  state.hangs = false
  const first = discovery.locate()
  await clock.advance(0.001)
  const all = Promise.allSettled([first, discovery.locate(), discovery.locate()])
  for (let count = 0; count < 12; count++) {
    await clock.advance(0.1)
    await settle()
  }
  expect((await all).map((each) => each.status)).toEqual([status, status, status])
  // The read that was given up is the first of them.
  expect(requests).toHaveLength(1 + reads)
})
