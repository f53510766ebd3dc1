import { type GuardOptions, scope } from '@portcullis/core'

import type { AppSpec } from './frameworks/framework.ts'
import { frameworks } from './frameworks/index.ts'
import { bearer, proven, unproven, verifier } from './tokens.ts'

// A program, since what it prints is the point. It prints the name of each scene itself, and sends the statuses that the
// client saw to its parent.

function fault(): never {
  throw new Error('canary')
}

const requiring = (options: GuardOptions): AppSpec => ({
  guards: [{ verifier, options }],
  requirements: [scope('write')],
})

const scenes: Readonly<Record<string, AppSpec>> = {
  'refusals, forwarded': requiring({}),
  'refusals, forwarded in development': { ...requiring({}), development: true },
  'refusals, answered in development': {
    ...requiring({ respond: 'problem' }),
    development: true,
  },
  'refusals, with an observer that fails': requiring({ onRefusal: fault }),
  'faults in development': { development: true, routes: [{ path: '/', handle: fault }] },
}

const framework = frameworks.find(({ name }) => name === process.argv[2])
if (framework === undefined) throw new TypeError('the argument must be the name of a framework')

const tokens = [unproven[0], proven[0]].map((each) => ({ authorization: `Bearer ${each?.token}` }))
const requests = [{}, { authorization: 'Bearer a b' }, ...tokens, await bearer()]
const statuses: [scene: string, statuses: number[]][] = []
for (const [scene, spec] of Object.entries(scenes)) {
  for (const stream of [process.stdout, process.stderr]) stream.write(`--- ${scene}\n`)
  const app = await framework.createApp({ routes: [{ path: '/', handle: () => ({}) }], ...spec })
  const seen: number[] = []
  for (const headers of requests) {
    const response = await fetch(app.url, { headers })
    await response.text()
    seen.push(response.status)
  }
  statuses.push([scene, seen])
  await app[Symbol.asyncDispose]()
}
process.send?.(statuses)
