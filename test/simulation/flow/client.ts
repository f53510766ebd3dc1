import { createTokenClient, type TokenClient } from '@portcullis/client'

import { serve, tell } from './processes.ts'

const { AUTH_URL = '', API_URL = '' } = process.env
const clients = new Map<string, TokenClient>()
const CALLERS = 8

export interface Login {
  readonly name: string
  readonly loginId: string
  readonly password: string
}

export interface Load {
  readonly name: string
  /** It goes on until a call was proven by another key than this, */
  readonly otherKeyThan?: string
  /** and until the first token that was used has expired, */
  readonly untilExpired?: boolean
  /** and then for so many calls. */
  readonly calls: number
}

export interface Report {
  /** How often each answer came: a status, or the code of an error. */
  readonly outcomes: Readonly<Record<string, number>>
  /** The keys that the API has proven tokens by, and the expiries of these. */
  readonly kids: readonly string[]
  readonly expiries: readonly number[]
}

serve({
  logIn({ name, loginId, password }: Login) {
    const login = { authUrl: AUTH_URL, loginId, password, origins: [API_URL] }
    clients.set(name, createTokenClient(login))
  },
  describe: (name: string) => clients.get(name)?.status(),
  load,
})

async function load({ name, otherKeyThan, untilExpired = false, calls }: Load): Promise<Report> {
  const client = clients.get(name)
  const outcomes: Record<string, number> = {}
  const kids = new Set<string>()
  const expiries = new Set<number>()
  let left = calls
  let made = 0

  function count(outcome: string | number): void {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    const [firstExpiry = Infinity] = expiries
    const isRotated = otherKeyThan === undefined || [...kids].some((kid) => kid !== otherKeyThan)
    const isExpired = !untilExpired || Date.now() / 1000 > firstExpiry
    if (isRotated && isExpired) left -= 1
    made += 1
    if (made === 100) tell('a hundred calls')
  }

  async function call(): Promise<void> {
    try {
      const response = await client?.fetch(`${API_URL}/v1/clientLocations`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"city":"Oslo"}',
      })
      const body = (await response?.json()) as { kid: string; expiry: number }
      kids.add(body.kid)
      expiries.add(body.expiry)
      count(response?.status ?? 'no client')
    } catch (error) {
      count(error instanceof Error && 'code' in error ? String(error.code) : String(error))
    }
  }

  async function keepCalling(): Promise<void> {
    let isDone = false
    while (!isDone) {
      await call()
      isDone = left <= 0
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, keepCalling))
  return { outcomes, kids: [...kids], expiries: [...expiries] }
}
