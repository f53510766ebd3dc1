import { channel } from 'node:diagnostics_channel'

import { debug } from '@portcullis/kit/report'

import { type Failure, isFailure } from './decisions.ts'

// What is told of each call of an introspection endpoint: the channel `portcullis:introspection`, and a line for NODE_DEBUG=portcullis.

/**
 * The result of one call of an introspection endpoint, on the channel `portcullis:introspection`. It contains nothing of the token, no
 * credential and no URL.
 */
export interface IntrospectionMessage {
  /** What `introspected` returned, to tell several apart. */
  readonly verifier: object
  readonly outcome: 'active' | 'inactive' | 'unreachable' | 'timeout' | 'bad_answer'
  /** What went wrong, in words. */
  readonly detail: string | undefined
  /** Seconds. */
  readonly duration: number
}

const calls = channel('portcullis:introspection')

export function publishCall(
  verifier: object,
  answer: { readonly word: 'active' | 'inactive' } | Failure,
  duration: number,
): void {
  const outcome = isFailure(answer) ? answer.reason : answer.word
  const detail = isFailure(answer) ? answer.detail : undefined
  if (calls.hasSubscribers) {
    const message: IntrospectionMessage = { verifier, outcome, detail, duration }
    calls.publish(message)
  }
  debug(() => {
    const why = detail === undefined ? '' : `: ${detail}`
    return `introspection: ${outcome} in ${(duration * 1000).toFixed(1)} ms${why}`
  })
}
