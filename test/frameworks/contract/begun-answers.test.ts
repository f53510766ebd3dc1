import type { ServerResponse } from 'node:http'

import { authenticate } from '@portcullis/express'
import express5 from 'express'
import express4 from 'express4'
import request from 'supertest'
import { describe, expect, test } from 'vitest'

import { verifier } from './tokens.ts'

// What Express does not do by itself: a header that is set on an answer under way throws, behind a promise, and ends the process.

describe.each<readonly [string, () => ReturnType<typeof express5>]>([
  ['Express 5', express5],
  // With types of its own; what is used here both have alike.
  ['Express 4', express4 as never],
])('%s', (_name, createApp) => {
  test.each(['forward', 'problem'] as const)(
    'a refusal after the headers were sent, respond: %s, reaches the error handler, and the process goes on',
    async (respond) => {
      const app = createApp()
      const seen: unknown[] = []
      app.use((_req: unknown, res: ServerResponse, next: () => void) => {
        res.flushHeaders()
        next()
      })
      app.use(authenticate(verifier, { respond }))
      app.use((error: unknown, _req: unknown, res: ServerResponse, _next: unknown) => {
        seen.push(error)
        res.end('begun')
      })
      const response = await request(app).get('/')
      expect([response.status, response.text]).toEqual([200, 'begun'])
      expect(seen).toEqual([expect.objectContaining({ code: 'missing_token' })])
    },
  )
})
