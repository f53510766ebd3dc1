import { CommandError, EXIT } from './exit-code.ts'
import type { Context } from './terminal.ts'

// Ends waits at Ctrl-C: for work that takes no signal, for time, and for stdin.

/** Waits for work that takes no signal: it goes on, and nobody hears of it. @throws CommandError after Ctrl-C. */
export async function untilInterrupted<Value>(work: Promise<Value>, signal: AbortSignal) {
  let leave: (() => void) | undefined
  const interrupted = new Promise<never>((_, reject) => {
    leave = () => {
      reject(new CommandError(EXIT.interrupted, 'interrupted'))
    }
    signal.addEventListener('abort', leave)
    if (signal.aborted) leave()
  })
  try {
    return await Promise.race([work, interrupted])
  } finally {
    if (leave !== undefined) signal.removeEventListener('abort', leave)
  }
}

/** Hands work a signal that is aborted so much later. */
export async function withinSeconds<Value>(
  seconds: number,
  { clock }: Pick<Context, 'clock'>,
  work: (end: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const end = new AbortController()
  const cancel = clock.after(seconds, () => {
    end.abort()
  })
  try {
    return await work(end.signal)
  } finally {
    cancel()
  }
}

/** @throws CommandError after Ctrl-C. */
export async function pause(seconds: number, { clock, signal }: Pick<Context, 'clock' | 'signal'>) {
  let cancel: (() => void) | undefined
  const over = new Promise<void>((resolve) => {
    cancel = clock.after(seconds, resolve)
  })
  try {
    await untilInterrupted(over, signal)
  } finally {
    cancel?.()
  }
}

/** Until it ends or the reader has enough. @throws CommandError after Ctrl-C. */
export async function* textsOf({
  stdin,
  signal,
}: Pick<Context, 'stdin' | 'signal'>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  const chunks: AsyncIterator<Uint8Array | string, unknown> = stdin[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await untilInterrupted(chunks.next(), signal)
      if (next.done === true) return
      const { value } = next
      yield typeof value === 'string' ? value : decoder.decode(value, { stream: true })
    }
  } finally {
    // Not awaited: it waits for a chunk that may never come.
    void chunks.return?.()
  }
}
