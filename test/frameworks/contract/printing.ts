import { type GuardOptions, scope } from '@portcullis/core'

import type { AppSpec } from './frameworks/framework.ts'
import { frameworks } from './frameworks/index.ts'
import { bearer, proven, unproven, verifier } from './tokens.ts'

// A program, since what it prints is the point. It prints the name of each framework and scene itself, and sends the statuses
// that the client saw to its parent. One process for all frameworks: to start it costs the most.

function fault(framework: string): never {
  throw new Error(`canary of ${framework}`)
}

const requiring = (options: GuardOptions): AppSpec => ({
  guards: [{ verifier, options }],
  requirements: [scope('write')],
})

const scenes: Readonly<Record<string, (framework: string) => AppSpec>> = {
  'refusals, forwarded': () => requiring({}),
  'refusals, forwarded in development': () => ({ ...requiring({}), development: true }),
  'refusals, answered in development': () => ({
    ...requiring({ respond: 'problem' }),
    development: true,
  }),
  'refusals, with an observer that fails': (framework) =>
    requiring({ onRefusal: () => fault(framework) }),
  // The last, since some loggers write later.
  'faults in development': (framework) => ({
    development: true,
    routes: [{ path: '/', handle: () => fault(framework) }],
  }),
}

const tokens = [unproven[0], proven[0]].map((each) => ({ authorization: `Bearer ${each?.token}` }))
const requests = [{}, { authorization: 'Bearer a, Bearer b' }, ...tokens, await bearer()]
const statuses: [scene: string, statuses: number[]][] = []
for (const [scene, specFor] of Object.entries(scenes)) {
  for (const { name, createApp } of frameworks) {
    const title = `${name}: ${scene}`
    for (const stream of [process.stdout, process.stderr]) stream.write(`--- ${title}\n`)
    const app = await createApp({
      routes: [{ path: '/', handle: () => ({}) }],
      ...specFor(name),
    })
    const seen: number[] = []
    for (const headers of requests) {
      const response = await fetch(app.url, { headers })
      await response.text()
      seen.push(response.status)
    }
    statuses.push([title, seen])
    await app[Symbol.asyncDispose]()
  }
}
process.send?.(statuses)
