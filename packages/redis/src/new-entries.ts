import {
  type Clock,
  type LocalRevocations,
  localRevocations,
  type RevocationEntry,
} from '@portcullis/core'

// Turns a revocation into entries of the stream by the code of `localRevocations`, so that both have the same rules.

/**
 * The entries that a revocation makes, by the rules of the index.
 *
 * Those that have lapsed are among them: the clock of this process may be ahead, and each replica judges by its own.
 */
export async function newEntries(
  clock: Clock,
  make: (made: LocalRevocations) => unknown,
): Promise<readonly RevocationEntry[]> {
  const made = localRevocations({
    clock: {
      now: () => clock.now(),
      // By no number nothing has lapsed.
      monotonic: () => Number.NaN,
      after: (seconds, fn) => clock.after(seconds, fn),
    },
  })
  await make(made)
  return made.toSnapshot().entries
}
