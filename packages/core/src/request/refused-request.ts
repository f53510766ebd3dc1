import { own } from '@portcullis/kit/options'
import { callListener, debug } from '@portcullis/kit/report'

import { AuthError } from '../refusal/errors.ts'
import type { Scheme } from '../refusal/presentation.ts'
import { refusalLine } from '../report/debug-log.ts'
import { refusedRequests } from '../report/diagnostics.ts'
import { Checked, type GuardOptions } from './guard-options.ts'

// What a guard does with a refusal: gives it the guard's own challenge, reports it, and calls `onRefusal`.

interface RefusedRequest {
  /** Where the headers are, if that is another object. */
  readonly request?: unknown
  /** Where the guard takes proofs. */
  readonly scheme?: Scheme | undefined
}

/** Reports an AuthError, and returns it as this guard presents it. Any other error is returned as it is. */
export function presentRefusal(
  error: unknown,
  subject: object,
  options: GuardOptions<never>,
  { request, scheme }: RefusedRequest,
): unknown {
  if (!(error instanceof AuthError)) return error
  const presented = error.presentedBy(Checked.shownBy(options), scheme)
  // Make the headers here. If that throws, for a scope that is no string, the promise of this request rejects; in an
  // adapter's callback it would be an uncaught exception.
  void presented.headers
  debug(() => refusalLine(presented, { framework: Checked.frameworkOf(options), subject, request }))
  refusedRequests.publish(() => ({
    framework: Checked.frameworkOf(options),
    code: presented.code,
    reason: presented.reason,
  }))
  // The guard with these options was given this subject.
  const tell = () => own(options, 'onRefusal')?.(presented, subject as never)
  void callListener('onRefusal', tell)
  return presented
}
