import { randomBytes } from 'node:crypto'

// Which opaque tokens there are, and what is answered to a question about each.

/** Of a client that has proven who it is. */
export interface Question {
  readonly clientId: string
  /** Under which the service was asked, such as `https://auth.test`. */
  readonly origin: string
  /** RFC 9701 section 4. */
  readonly isSigned: boolean
}

export type Answer = (question: Question) => Response | Promise<Response>

export interface OpaqueTokens {
  add(answer: Answer): string
  revoke(token: string): void
  find(token: string): Answer | undefined
}

/** The oldest tokens are forgotten beyond so many, so that a service can run for long. */
const MAX = 10_000

export function createOpaqueTokens(): OpaqueTokens {
  const answers = new Map<string, Answer>()
  return {
    add(answer) {
      const token = `opaque_${randomBytes(32).toString('base64url')}`
      answers.set(token, answer)
      const [oldest] = answers.keys()
      if (answers.size > MAX && oldest !== undefined) answers.delete(oldest)
      return token
    },
    revoke(token) {
      answers.delete(token)
    },
    find: (token) => answers.get(token),
  }
}
