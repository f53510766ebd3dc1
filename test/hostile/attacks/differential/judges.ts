import { isDeepStrictEqual } from 'node:util'

import {
  type Algorithm,
  AuthError,
  createVerifier,
  localKeys,
  type Verifier,
  type VerifierOptions,
} from '@portcullis/core'
import { manualClock } from '@portcullis/testing'
import {
  createLocalJWKSet,
  errors,
  type JWK,
  type JSONWebKeySet,
  jwtVerify,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  type JWTVerifyResult,
} from 'jose'

/** What both are told alike. Times are seconds. */
export interface Rules {
  readonly now: number
  /** `undefined`: each key says what it is for. */
  readonly algorithms: readonly Algorithm[] | undefined
  readonly issuer: string | readonly string[] | null
  /** With `null` in the list, also a token that names no audience. */
  readonly audience: string | readonly (string | null)[] | null
  readonly requiredClaims: readonly string[] | undefined
  readonly type: string | undefined
  readonly maxTokenAge: number | undefined
  /** Whether Portcullis remembers tokens, which no verdict may show. */
  readonly remember: boolean
}

/** What there is to judge. The document is what `JSON.parse` makes of one. */
export interface Case {
  readonly rules: Rules
  readonly document: unknown
  readonly token: string
}

/** `because` is the reason of a refusal, or what jose calls it. */
export type Verdict =
  | { readonly because: 'accepted'; readonly claims: unknown; readonly header: unknown }
  | { readonly because: string }

export const CLOCK_TOLERANCE = 5

type Judge = (token: string) => Promise<Verdict>

export const judgeByPortcullis = judgeBy(portcullis)
export const judgeByJose = judgeBy(jose)

export function isSameVerdict(one: Verdict, other: Verdict): boolean {
  return (
    isAccepted(one) === isAccepted(other) && (!isAccepted(one) || isDeepStrictEqual(one, other))
  )
}

export function isAccepted({ because }: Verdict): boolean {
  return because === 'accepted'
}

/** Keys are imported once for all tokens that are judged by the same document and rules. */
function judgeBy(create: (document: unknown, rules: Rules) => Judge) {
  const judges = new WeakMap<object, WeakMap<Rules, Judge>>()
  return async ({ rules, document, token }: Case): Promise<Verdict> => {
    const owner = typeof document === 'object' && document !== null ? document : {}
    const ofDocument = judges.get(owner) ?? new WeakMap<Rules, Judge>()
    judges.set(owner, ofDocument)
    const judge = ofDocument.get(rules) ?? create(document, rules)
    ofDocument.set(rules, judge)
    return await judge(token)
  }
}

function portcullis(document: unknown, rules: Rules): Judge {
  const verifier = verifierOf(document, rules)
  return async (token) =>
    verifier === undefined ? { because: 'no_key' } : await verdictOf(verifier, token)
}

/** @throws whatever is no refusal: a hostile token may cause nothing else. */
export async function verdictOf(verifier: Verifier, token: string): Promise<Verdict> {
  try {
    const { claims, header } = await verifier.verify(token)
    return { because: 'accepted', claims, header }
  } catch (error) {
    if (error instanceof AuthError && error.reason !== undefined) return { because: error.reason }
    throw error
  }
}

/** `undefined` if there is no usable key, which Portcullis says at start-up. */
function verifierOf(document: unknown, { now, remember, ...rules }: Rules): Verifier | undefined {
  // A list of keys is for `localKeys` alone: no document is one.
  if (Array.isArray(document)) return undefined
  try {
    const keys = localKeys(document as JWK /* or anything else, as a document may be */)
    const options: VerifierOptions = {
      ...rules,
      keys,
      clockTolerance: CLOCK_TOLERANCE,
      clock: manualClock(now),
      ...(remember ? {} : { remember: false }),
    }
    return createVerifier(Object.freeze(options))
  } catch (error) {
    if (error instanceof TypeError && error.message.startsWith('localKeys: ')) return undefined
    throw error
  }
}

function jose(document: unknown, rules: Rules): Judge {
  const keys = told(document, rules)
  const verify = joseVerifierOf(keys, joseOptions(rules))
  const verifyForAnybody = joseVerifierOf(keys, joseOptions({ ...rules, audience: null }))
  const mayBeMissing = Array.isArray(rules.audience) && rules.audience.includes(null)
  return async (token) => {
    try {
      const { payload, protectedHeader } = await verify(token).catch(async (error: unknown) => {
        // It has no option for this: who would accept a token without an audience asks again.
        if (mayBeMissing && lacksAudience(error)) return await verifyForAnybody(token)
        throw error
      })
      return { because: 'accepted', claims: payload, header: protectedHeader }
    } catch (error) {
      return { because: error instanceof errors.JOSEError ? error.code : 'not a JOSE error' }
    }
  }
}

function lacksAudience(error: unknown): boolean {
  return (
    error instanceof errors.JWTClaimValidationFailed &&
    error.claim === 'aud' &&
    error.reason === 'missing'
  )
}

/** The document, in which each key says to jose what it says to us without words. */
function told(document: unknown, rules: Rules): unknown {
  if (!hasKeys(document)) return toldKey(document, rules)
  return { ...document, keys: document.keys.map((entry) => toldKey(entry, rules)) }
}

function toldKey(entry: unknown, { algorithms }: Rules): unknown {
  if (typeof entry !== 'object' || entry === null) return entry
  const { alg, ...jwk } = entry as JWK // whose members may be of any type
  if (jwk.kty === 'OKP' && (alg === 'EdDSA' || alg === 'Ed25519')) return jwk
  const isSilent = alg === undefined || alg === null
  return isSilent && algorithms === undefined && jwk.kty === 'RSA'
    ? { ...jwk, alg: 'RS512' }
    : entry
}

function joseVerifierOf(
  document: unknown,
  options: JWTVerifyOptions,
): (token: string) => Promise<JWTVerifyResult> {
  // A copy, because jose freezes the key that it is given.
  const copy = structuredClone(document)
  if (!hasKeys(copy)) {
    return async (token) => await jwtVerify(token, copy as JWK /* if it is one */, options)
  }
  let findKey: JWTVerifyGetKey | undefined
  return async (token) => {
    findKey ??= createLocalJWKSet(copy) // which throws for some documents
    return await verifyWithSet(token, findKey, options)
  }
}

function joseOptions(rules: Rules): JWTVerifyOptions {
  return {
    ...(rules.algorithms === undefined ? {} : { algorithms: [...rules.algorithms] }),
    ...(rules.issuer === null ? {} : { issuer: [rules.issuer].flat() }),
    ...(rules.audience === null ? {} : { audience: textsIn(rules.audience) }),
    ...(rules.type === undefined ? {} : { typ: rules.type }),
    ...(rules.maxTokenAge === undefined ? {} : { maxTokenAge: rules.maxTokenAge }),
    requiredClaims: ['exp', ...(rules.requiredClaims ?? [])],
    clockTolerance: CLOCK_TOLERANCE,
    currentDate: new Date(rules.now * 1000),
  }
}

function textsIn(list: string | readonly (string | null)[]): string[] {
  return [list].flat().filter((each) => each !== null)
}

function hasKeys(document: unknown): document is JSONWebKeySet {
  return Array.isArray(Reflect.get(Object(document), 'keys'))
}

/** Tries every key that jose finds fit, as its documentation shows. */
async function verifyWithSet(
  token: string,
  findKey: JWTVerifyGetKey,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, findKey, options)
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    let refusal: unknown = error
    for await (const key of error) {
      try {
        return await jwtVerify(token, key, options)
      } catch (each) {
        refusal = each
      }
    }
    throw refusal
  }
}
