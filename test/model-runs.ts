// How long a random model runs. Always the same sequences in a usual run, so that it fails for a change alone; for minutes, with other
// seeds, and the one that fails is printed:
//
//   MODEL_MINUTES=10 npx --yes pnpm@12 test test/simulation/model

const minutes = Number(process.env['MODEL_MINUTES'] ?? 0)

/** Milliseconds, for a test: a run that is interrupted when its minutes are over still goes on for a while. */
export const MODEL_LIMIT = 240_000 + minutes * 90_000

/** For `fc.assert`. @param usual How many sequences. @param share Of the minutes, where a file has several models. */
export function modelRuns(usual: number, seed: number, share = 1) {
  return minutes > 0
    ? {
        numRuns: 1e9,
        interruptAfterTimeLimit: minutes * 60_000 * share,
        markInterruptAsFailure: false,
      }
    : { numRuns: usual, seed }
}
