import { type Detail, duration, kindOf, listed } from '../refusal/text.ts'

// What refusals tell developers about how a user has authenticated. No value of a claim is shown but how long ago that was.

export function lacksAge(time: unknown, age: number, now: number): Detail {
  const wanted = `the route wants ${duration(age)} at most`
  if (typeof time !== 'number') {
    const found = time === undefined ? 'is missing' : `is ${kindOf(time)}`
    return () => `auth_time ${found}; ${wanted}: does the issuer put it into access tokens?`
  }
  const elapsed = now - time
  return elapsed < 0
    ? () => `auth_time is ${duration(-elapsed)} after now: is it in milliseconds, or a clock wrong?`
    : () => `the user authenticated ${duration(elapsed)} ago (auth_time); ${wanted}`
}

export function lacksAcr(value: unknown, wanted: readonly string[]): Detail {
  const expected = `the route wants ${wanted.length > 1 ? 'one of ' : ''}${listed(wanted)}`
  if (typeof value === 'string') return () => `acr is another one; ${expected}`
  const found = value === undefined ? 'is missing' : `is ${kindOf(value)}`
  return () => `acr ${found}; ${expected}: does the issuer put it into access tokens?`
}
