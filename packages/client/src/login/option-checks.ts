import {
  isAbsoluteUrl,
  isText,
  mustBe,
  type OptionCheck,
  seconds,
  secureUrl,
} from '@portcullis/kit/options'
import type { Clock } from '@portcullis/kit/time'

import { dpopAlgorithm, type DpopOptions } from '../dpop/dpop-options.ts'
import { createDpop, type Dpop, DPOP_FORMS, isDpop } from '../dpop/dpop.ts'

// What the options of all clients have in common: their checks at start-up, and what some of them become.

export const isCredential: OptionCheck = mustBe(
  'a string that is not empty, or a function that gives one',
  (value) => isText(value) === undefined || typeof value === 'function',
)

export const isUrlOption: OptionCheck = (value) =>
  typeof value === 'string' || value instanceof URL ? isAbsoluteUrl(value) : isAbsoluteUrl('')
export const isOriginList: OptionCheck = mustBe(
  'a list of origins, [] for a client that only uses get',
  (value) => Array.isArray(value) && value.every((each) => isText(each) === undefined),
)
export const isTimeout: OptionCheck = seconds(0.1, 300)
export const isDpopOption: OptionCheck = mustBe(DPOP_FORMS, isDpop)

export function dpopOf(dpop: boolean | DpopOptions, clock: Clock): Dpop | undefined {
  return dpop === false ? undefined : createDpop(dpopAlgorithm(dpop), clock)
}

/** As `URL` writes them. @throws TypeError */
export function originSet(
  caller: string,
  origins: readonly string[],
  allowInsecure: boolean,
): ReadonlySet<string> {
  return new Set(
    origins.map((text) => {
      const url = secureUrl(caller, 'each of origins', text, allowInsecure)
      if (url.href !== `${url.origin}/`) {
        // Mistake `…: each of origins must be an origin, without a path`: Write `https://api.example.com`, without what follows.
        throw new TypeError(`${caller}: each of origins must be an origin, without a path`)
      }
      // `URL` takes it for a host of that name, which no request is for.
      if (url.hostname.includes('*')) {
        // Mistake `…: each of origins must be one origin, without *`: No pattern is matched. List each origin, such as
        // `https://a.api.example.com`.
        throw new TypeError(`${caller}: each of origins must be one origin, without *: list each`)
      }
      return url.origin
    }),
  )
}
