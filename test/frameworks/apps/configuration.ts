import type { VerifierOptions } from '@portcullis/core'

// What an application has from elsewhere.

export type Configuration = Pick<VerifierOptions, 'keys' | 'issuer' | 'audience'>

interface Line {
  readonly code: string
  readonly reason: string
  readonly detail: string | undefined
}

/** What the applications have logged. */
export const logged: Line[] = []

function write(fields: Line & Readonly<Record<string, unknown>>, _text: string): void {
  logged.push(fields)
}

/** Takes what most loggers take. */
export const log = { info: write, warn: write }
