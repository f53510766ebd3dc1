import { scope } from '@portcullis/core'
import { assertChallenge, stubVerifier } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import type { View } from './contract/frameworks/framework.ts'
import { frameworks } from './contract/frameworks/index.ts'

const any = { authorization: 'Bearer any' }
const verifier = stubVerifier({ claims: { sub: 'ada', scope: 'read' } })

describe.each(frameworks)('a stub verifier on $name', ({ createApp }) => {
  test('opens the routes that its claims open, and no others', async () => {
    const handle = (view: View) => view.getAuth(verifier).claims
    const routes = [
      { path: '/read', requirements: [scope('read')], handle },
      { path: '/write', requirements: [scope('write')], handle },
    ]
    await using app = await createApp({ guards: [{ verifier }], routes })
    const read = await fetch(`${app.url}/read`, { headers: any })
    expect([read.status, await read.json()]).toEqual([200, { sub: 'ada', scope: 'read' }])
    assertChallenge(await fetch(`${app.url}/write`, { headers: any }), {
      status: 403,
      error: 'insufficient_scope',
      scope: 'write',
      reason: 'scope',
    })
    expect(assertChallenge(await fetch(`${app.url}/read`), { status: 401, error: null })).toEqual({
      realm: 'api',
    })
  })

  test('that refuses is answered as the core answers', async () => {
    const routes = [{ path: '/', handle: () => ({}) }]
    const expired = stubVerifier.refusing('expired')
    await using refusing = await createApp({ guards: [{ verifier: expired }], routes })
    const refused = await fetch(refusing.url, { headers: any })
    expect(assertChallenge(refused, { status: 401, reason: 'expired' })).toHaveProperty(
      'error',
      'invalid_token',
    )
    const down = stubVerifier.refusing('unreachable')
    await using unavailable = await createApp({ guards: [{ verifier: down }], routes })
    const response = await fetch(unavailable.url, { headers: any })
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
  })
})
