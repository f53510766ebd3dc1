import { type JsonObject, member, textMember } from '@portcullis/kit/json'

import {
  algorithmNamed,
  algorithmNamesOf,
  checkAlgorithm,
} from '../algorithms/accepted-algorithms.ts'
import type { Algorithm } from '../algorithms/algorithms.ts'
import { checkKind, checkType, statesKind } from '../claims/kind.ts'
import { counted, shown } from '../refusal/text.ts'
import { checkText, type ParsedToken, parseToken } from '../token/token.ts'
import type { VerifierOptions } from '../verifier/verifier-options.ts'
import { typesOf } from '../verifier/verifier-parts.ts'
import { attempt, type Attempt, failed, type Finding, passed, skipped } from './finding.ts'

// Findings about what can be judged without keys: the form of a token, its algorithm and its type.

type ExplainedStep<Value> = Attempt<Value> & { readonly finding: Finding }

export function explainForm(
  token: unknown,
  { maxTokenSize = 16_384 }: VerifierOptions,
): ExplainedStep<ParsedToken> {
  const form = attempt(() => {
    checkText(token)
    return parseToken(token, maxTokenSize)
  })
  const size = typeof token === 'string' ? token.length : 0
  const finding =
    form.refusal === undefined
      ? passed('form', `compact JWS, ${counted(size)} bytes`)
      : failed('form', form.refusal)
  return { ...form, finding }
}

export function explainAlgorithm(
  { header }: ParsedToken,
  { algorithms, algorithmNames }: VerifierOptions,
): ExplainedStep<Algorithm> & { readonly named: unknown } {
  const alg = member(header, 'alg')
  const names = algorithmNamesOf(algorithmNames)
  const named = algorithmNamed(alg, names)
  const accepted = attempt(() => checkAlgorithm(alg, algorithms, names))
  const finding =
    accepted.refusal === undefined
      ? passed(
          'algorithm',
          named === alg ? accepted.value : `${shown(alg)}, which means ${accepted.value}`,
        )
      : failed('algorithm', accepted.refusal)
  return { ...accepted, named, finding }
}

/** @param claims Some say what kind of token it is, where `typ` does not; `undefined` if they cannot be read. */
export function explainType(
  { header }: ParsedToken,
  options: VerifierOptions,
  claims: JsonObject | undefined,
): ExplainedStep<void> {
  const types = typesOf(options)
  const typ = textMember(header, 'typ')
  const found = typ === undefined ? 'the header has no typ' : shown(typ)
  const checked = attempt(() => {
    checkType(typ, types)
    if (claims !== undefined) checkKind(claims, statesKind(typ, types))
  })
  if (checked.refusal !== undefined) return { ...checked, finding: failed('type', checked.refusal) }
  const finding =
    types === undefined ? skipped('type', `not stated; ${found}`) : passed('type', found)
  return { ...checked, finding }
}
