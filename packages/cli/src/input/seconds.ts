import { InvalidArgumentError } from 'commander'

// Reads a length of time that a user writes: 30s, 5m, 2h, 1d, or a number of seconds.

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Seconds: as far as a date can show it, here and some hundred years from now. */
const LONGEST = 1e10

/** The seconds of a text; `undefined` for what is no length of time, or a longer one than any that is of use. */
export function secondsIn(text: string): number | undefined {
  const [, count, unit = 's'] = /^(-?\d{1,11}(?:\.\d{1,6})?)([smhd])?$/.exec(text.trim()) ?? []
  const value = Number(count) * (UNITS[unit] ?? Number.NaN)
  return Math.abs(value) <= LONGEST ? value : undefined
}

/** Commander shows the error with the name of the option. */
export function seconds(text: string): number {
  const value = secondsIn(text)
  if (value === undefined) {
    throw new InvalidArgumentError(
      'It must be a time such as 30s, 5m, 2h or 1d, or a number of seconds.',
    )
  }
  return value
}
