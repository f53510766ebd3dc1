import { parseHarmlessObject } from '../service/harmless-json.ts'

// The endpoint that security events are polled from, as RFC 8936 has it: what waits there, and what was said of it.

interface SetError {
  readonly err: string
  readonly description: string
}

export interface PollQueue {
  /** Adds an event, under the name that receivers acknowledge it by. */
  add(jti: string, token: string): void
  waiting(): readonly string[]
  acknowledged(): readonly string[]
  errors(): ReadonlyMap<string, SetError>
  /** @returns The answer, at the latest when an event is added. */
  answer(body: string, signal: AbortSignal | undefined): Promise<Response>
}

export function createPollQueue(): PollQueue {
  const tokens = new Map<string, string>()
  const acknowledged: string[] = []
  const errors = new Map<string, SetError>()
  const listeners = new Set<() => void>()

  function settle(request: Readonly<Record<string, unknown>>): void {
    for (const jti of textsIn(request['ack'])) {
      if (tokens.delete(jti)) acknowledged.push(jti)
    }
    for (const [jti, error] of Object.entries(Object(request['setErrs']) as object)) {
      if (tokens.delete(jti)) errors.set(jti, error as SetError) // as the receiver under test wrote it
    }
  }

  /** A request that waits is answered with the next event, or never. */
  async function oneIsThere(signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const end = () => {
        listeners.delete(end)
        if (signal?.aborted === true) reject(signal.reason as Error)
        else resolve()
      }
      listeners.add(end)
      // Its abort may have been told before anybody listened.
      if (signal?.aborted === true) end()
      else signal?.addEventListener('abort', end, { once: true })
    })
  }

  return {
    add(jti, token) {
      tokens.set(jti, token)
      for (const listener of listeners) listener()
    },
    waiting: () => [...tokens.keys()],
    acknowledged: () => [...acknowledged],
    errors: () => new Map(errors),
    async answer(body, signal) {
      const request = parseHarmlessObject(body)
      if (request === undefined) return new Response(null, { status: 400 })
      settle(request)
      const { maxEvents = 100, returnImmediately = false } = request
      const isWaiting = tokens.size === 0 && maxEvents !== 0 && returnImmediately !== true
      if (isWaiting) await oneIsThere(signal)
      const next = [...tokens].slice(0, Number(maxEvents))
      const answer = {
        sets: Object.fromEntries(next),
        ...(next.length < tokens.size ? { moreAvailable: true } : {}),
      }
      return Response.json(answer, { headers: { 'cache-control': 'no-store' } })
    },
  }
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}
