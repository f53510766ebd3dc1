import { subscribe, unsubscribe } from 'node:diagnostics_channel'

import {
  AuthError,
  createVerifier,
  type KeysMessage,
  type RemoteKeys,
  remoteKeys,
  type RemoteKeysOptions,
} from '@portcullis/core'

import type { KeyEndpoint } from './key-endpoint.ts'

export interface Follower {
  readonly keys: RemoteKeys
  /** `accepted`, or the code and the reason of the refusal. */
  readonly verdict: (token: Promise<string>) => Promise<string>
  /** The verdicts of several tokens that arrive together, each verdict once. */
  readonly verdicts: (tokens: readonly Promise<string>[]) => Promise<readonly string[]>
  /** Of `keys.refresh()`: `success`, or code and reason. */
  readonly refresh: () => Promise<string>
  /** Resolves to the outcome of the next attempt that settles. */
  readonly nextOutcome: () => Promise<KeysMessage['outcome']>
}

/** What is under test: a verifier that follows the endpoint's keys, in the endpoint's time. */
export function follow(endpoint: KeyEndpoint, options: RemoteKeysOptions = {}): Follower {
  const { clock, fetch, url } = endpoint
  const keys = remoteKeys(url, { clock, fetch, ...options })
  const verifier = createVerifier({ keys, issuer: null, audience: null, clock })

  async function verdict(token: Promise<string>): Promise<string> {
    const arrived = await token
    return await wordFor(async () => {
      await verifier.verify(arrived)
      return 'accepted'
    })
  }

  async function verdicts(tokens: readonly Promise<string>[]): Promise<readonly string[]> {
    await Promise.all(tokens)
    return [...new Set(await Promise.all(tokens.map(verdict)))]
  }

  async function refresh(): Promise<string> {
    return await wordFor(async () => {
      await keys.refresh()
      return 'success'
    })
  }

  async function nextOutcome(): Promise<KeysMessage['outcome']> {
    return await new Promise((resolve) => {
      const listener = (published: unknown) => {
        const { source, outcome } = published as KeysMessage // as the channel is documented
        if (source !== keys) return
        unsubscribe('portcullis:keys', listener)
        resolve(outcome)
      }
      subscribe('portcullis:keys', listener)
    })
  }

  return { keys, verdict, verdicts, refresh, nextOutcome }
}

async function wordFor(work: () => Promise<string>): Promise<string> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AuthError) return `${error.code}: ${error.reason}`
    throw error
  }
}
