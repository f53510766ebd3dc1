import { introspected } from '@portcullis/introspection'
import { manualClock } from '@portcullis/testing'

import { serve } from '../simulation/flow/processes.ts'
import { API, API_CLIENT, SECRET } from './issuer.ts'

// An API in a process of its own: asks the foreign issuer about tokens, at the time that the parent says.

const clock = manualClock(Date.now() / 1000)
let calls = 0
const verifier = introspected({
  issuer: process.env['ISSUER'] ?? '',
  audience: API,
  clientId: API_CLIENT,
  clientSecret: SECRET,
  maxAge: 30,
  clock,
  async fetch(url, init) {
    if (init.method === 'POST') calls++
    return await fetch(url, init)
  },
})

serve({
  verdict: async (token: string) =>
    await verifier.verify(token).then(
      () => 'accepted',
      (error: unknown) => String(Reflect.get(Object(error), 'reason')),
    ),
  advance: async (seconds: number) => await clock.advance(seconds),
  calls: () => calls,
})
