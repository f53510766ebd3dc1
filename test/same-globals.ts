import { afterAll } from 'vitest'

// Runs before each test file of the projects that share a process. What one file leaves behind would make another one fail, far
// from the cause, and only in a run of both.

const SHARED = ['Date', 'Headers', 'Promise', 'Request', 'Response', 'fetch', 'setTimeout'] as const

const before = SHARED.map((name) => globalThis[name])

afterAll(() => {
  const replaced = SHARED.filter((name, index) => globalThis[name] !== before[index])
  SHARED.forEach((name, index) => {
    Reflect.set(globalThis, name, before[index]) // so that no other file fails for it
  })
  if (replaced.length > 0) {
    throw new Error(
      `this file leaves ${replaced.join(' and ')} replaced, as getRequestListener() of @hono/node-server does without overrideGlobalObjects: false`,
    )
  }
})
