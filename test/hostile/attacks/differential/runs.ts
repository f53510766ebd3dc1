const { ATTACKS_RUNS, ATTACKS_SEED } = process.env

/** How many cases there shall be, for a run that takes as long as it takes. */
export const requestedRuns = numberFrom('ATTACKS_RUNS', ATTACKS_RUNS)

/** For a test of so many cases, on a busy machine. Milliseconds. */
export const timeout = 120_000 + (requestedRuns ?? 0) * 10

const seed = numberFrom('ATTACKS_SEED', ATTACKS_SEED)

/** For `fc.assert`. Another seed each time, which it shows when a property fails. */
export function runs(usual: number): { numRuns: number; seed?: number } {
  return { numRuns: requestedRuns ?? usual, ...(seed === undefined ? {} : { seed }) }
}

function numberFrom(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new TypeError(`${name} must be an integer`)
  return number
}
