// Why a transmitter did not do what was asked of it.

export const CLOSED = 'the stream is closed'

/** Its message is in words of ours, and has neither an address nor anything of an answer. */
export class TransmitterError extends Error {
  override readonly name = 'TransmitterError'
  /** The pause that the answer asked for, in seconds. */
  readonly retryAfter: number | undefined

  constructor(message: string, retryAfter?: number) {
    super(message)
    this.retryAfter = retryAfter
  }
}
