import { assertChallenge } from '@portcullis/testing'

import type { ProbeCase } from './cases.ts'
import type { Complaint } from './complaints.ts'
import type { Answer } from './exchange.ts'

// What is wrong with the challenge of a 401, and which scheme it names.

const SAY_NOTHING_OF_THE_TOKEN: ReadonlySet<ProbeCase['kind']> = new Set(['head', 'options'])

/** @see RFC 9110 sections 11.6.1 and 15.5.2; RFC 6750 section 3; RFC 9449 section 7.1 */
export function challengeComplaints({ kind }: ProbeCase, answer: Answer): readonly Complaint[] {
  if (answer.status !== 401 || SAY_NOTHING_OF_THE_TOKEN.has(kind)) return []
  const challenge = challengeOf(answer)
  const complaints: Complaint[] = []
  if (challenge === undefined) {
    const text = '401 without one Bearer challenge (RFC 6750 section 3), or one of DPoP (RFC 9449)'
    complaints.push({ level: 'warning', text })
  } else if (kind === 'missing' && challenge['error'] !== undefined) {
    const text = 'an error code, though there is no token (RFC 6750 section 3.1)'
    complaints.push({ level: 'note', text })
  } else if ((kind === 'unproven' || kind === 'wrong') && challenge['error'] !== 'invalid_token') {
    const text = 'no error="invalid_token" in the challenge (RFC 6750 section 3.1)'
    complaints.push({ level: 'note', text })
  }
  if (!/\bno-store\b/i.test(answer.headers['cache-control'] ?? '')) {
    complaints.push({ level: 'note', text: '401 without Cache-Control: no-store' })
  }
  return complaints
}

/** The parameters of the one Bearer challenge; of the one for DPoP where the API takes no bearer tokens. */
export function challengeOf(answer: Answer): Readonly<Record<string, string>> | undefined {
  return challengeFor('Bearer', answer) ?? challengeFor('DPoP', answer)
}

/** `false` where the challenge names DPoP alone. */
export function takesBearer(answer: Answer): boolean {
  return challengeFor('Bearer', answer) !== undefined || challengeFor('DPoP', answer) === undefined
}

function challengeFor(scheme: 'Bearer' | 'DPoP', answer: Answer) {
  try {
    return assertChallenge(answer, { scheme })
  } catch {
    // None, several, or one that cannot be read.
  }
  return undefined
}
