import type { Clock } from '@portcullis/kit/time'

// The types of everything that the program gets from outside. Tests give it their own.

export type Fetch = typeof globalThis.fetch

export interface Input extends AsyncIterable<Uint8Array | string> {
  readonly isTTY?: boolean | undefined
}

export interface Output {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  readonly rows?: number | undefined
  write(text: string): unknown
}

/** Everything that the program has from outside, so that a test can give it something else. */
export interface Surroundings {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly stdin: Input
  readonly stdout: Output
  readonly stderr: Output
  readonly fetch: Fetch
  readonly clock: Clock
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal
}
