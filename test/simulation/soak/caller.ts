import { createTokenClient } from '@portcullis/client'

import { serve } from '../flow/processes.ts'
import { measure } from './child.ts'

// A program: a service that logs in and calls the APIs that it is told. AUTH_URL, ORIGINS say where.

const { AUTH_URL = '', ORIGINS = '[]' } = process.env
const tokens = createTokenClient({
  authUrl: AUTH_URL,
  loginId: 'caller',
  password: 'secret',
  origins: JSON.parse(ORIGINS) as string[], // made by workers.ts
  timeout: 5,
})

serve({
  async call(url: string) {
    try {
      const response = await tokens.fetch(url, { signal: AbortSignal.timeout(10_000) })
      await response.body?.cancel()
      return { status: response.status }
    } catch (error) {
      return {
        error: error instanceof Error && 'code' in error ? String(error.code) : String(error),
      }
    }
  },
  measure,
})
