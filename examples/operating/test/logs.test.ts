import { remoteKeys } from '@portcullis/core'
import { createTestIssuer, manualClock, tokenService } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { logKeys } from '../src/key-log.ts'

test('a line for keys that come and leave, and for what fails; none for a refresh that changes nothing', async () => {
  const lines: unknown[][] = []
  const write = (...line: unknown[]) => void lines.push(line)
  logKeys({ info: write, warn: write })
  const clock = manualClock()
  const issuer = await createTestIssuer({ clock, algorithm: 'ES256' })
  const service = tokenService(issuer)
  const keys = remoteKeys(service.keyUrl, { fetch: service.fetch, clock, snapshot: {} as never })
  for (const change of ['start', 'nothing', 'rotate', 'outage']) {
    if (change === 'rotate') await issuer.rotate()
    if (change === 'outage') issuer.outage(503)
    await clock.advance(2)
    await keys.refresh().catch(() => {})
  }
  const first = expect.any(String) as string
  expect(lines).toMatchObject([
    ['keys', { trigger: 'snapshot', outcome: 'ignored' }],
    ['keys', { trigger: 'refresh', added: [first], removed: [] }],
    ['keys', { trigger: 'refresh', added: [first], removed: [first] }],
    ['keys', { trigger: 'refresh', outcome: 'unreachable', detail: 'the key URL answered 503' }],
  ])
})
