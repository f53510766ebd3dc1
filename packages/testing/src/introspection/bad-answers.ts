import { base64url } from 'jose'

import { rows } from '../rows.ts'
import type { Backend } from '../service/backend.ts'
import { EMULATED } from '../service/emulation.ts'
import { badClaims, badPayloads } from '../tokens/bad-claims.ts'
import type { BadTokenParts } from '../tokens/bad-token.ts'
import { type ClaimOptions, LONG_LIFE, type TokenOptions } from '../tokens/token.ts'
import { answerWith, issuerAt, jsonAnswer, stateToken } from './answers.ts'
import type { BadAnswer, BadAnswerParts, BadAnswerRow } from './bad-answer.ts'
import { badSignedAnswers } from './bad-signed-answers.ts'
import type { Answer, OpaqueTokens } from './opaque-tokens.ts'

// Makes a token for each answer that must not be believed.

/** Claims and a binding are added to every answer, for what the verifier under test requires. */
export interface BadAnswersOptions extends Pick<TokenOptions, 'claims' | 'boundTo'> {
  /**
   * Whether the verifier wants signed answers (RFC 9701).
   * @default false
   */
  readonly signed?: boolean | undefined
}

export async function createBadAnswers(
  backend: Backend,
  tokens: OpaqueTokens,
  { signed = false, ...base }: BadAnswersOptions,
): Promise<readonly BadAnswer[]> {
  const { defaults } = backend
  const usual = { expiresIn: LONG_LIFE, ...base }
  const sound = stateToken(defaults, usual).at
  const parts = { defaults, stranger: await backend.stranger(), sound }
  const answers = [
    ...wrongWords(parts),
    ...wrongResponses(parts),
    ...(signed ? badSignedAnswers(parts) : []),
  ].map(([reason, name, answer]) => ({ reason, name, token: tokens.add(answer) }))
  return [...answers, ...(await asTokens(parts, usual, tokens))].map(({ reason, name, token }) => ({
    name,
    code:
      reason === 'bad_answer' || reason === 'unreachable'
        ? 'introspection_unavailable'
        : 'invalid_token',
    reason,
    token,
  }))
}

/** The tables of bad claims and payloads of JWTs, as answers. What is malformed there is a bad answer. */
async function asTokens(
  parts: BadAnswerParts,
  usual: ClaimOptions,
  tokens: OpaqueTokens,
): Promise<readonly Pick<BadAnswer, 'name' | 'reason' | 'token'>[]> {
  const defaults = { ...parts.defaults, issuer: issuerAt(parts.defaults, EMULATED) }
  const signing: BadTokenParts['signing'] = ({ payload, ...options }) => {
    const claims = { ...usual.claims, ...options.claims }
    const { at } = stateToken(parts.defaults, { ...usual, ...options, claims })
    const answer: Answer = async (question) =>
      await answerWith(parts.defaults, question, payload ?? JSON.stringify(at(question.origin)))
    return () => tokens.add(answer)
  }
  const payload = base64url.encode(JSON.stringify(parts.sound(EMULATED)))
  const wrong = [...badPayloads(signing, payload), ...badClaims(signing, defaults)]
  // `exp` is optional in an answer (RFC 7662 section 2.2), and what is null there is missing.
  const refused = wrong.filter(([, name]) => !['missing expiry', 'expiry null'].includes(name))
  return await Promise.all(
    refused.map(async ([reason, name, make]) => ({
      reason: reason === 'malformed' ? 'bad_answer' : reason,
      name,
      token: await make(),
    })),
  )
}

/** Answers of the right form that do not say what an answer has to say. */
function wrongWords({ defaults, sound }: BadAnswerParts): readonly BadAnswerRow[] {
  const saying =
    (change: (text: string) => string): Answer =>
    async (question) =>
      await answerWith(defaults, question, change(JSON.stringify(sound(question.origin))))
  const claiming =
    (claims: Readonly<Record<string, unknown>>): Answer =>
    async (question) =>
      await answerWith(defaults, question, JSON.stringify({ ...sound(question.origin), ...claims }))
  // One that is `undefined` is left out.
  const active = (value: unknown) => claiming({ active: value })
  const deep = `{"deep":${'['.repeat(10_000)}${']'.repeat(10_000)},`
  return [
    ['inactive', 'active false, with claims', active(false)],
    ...rows<BadAnswerRow>('bad_answer', {
      'active as string': active('true'),
      'active as number': active(1),
      'active null': active(null),
      'active as list': active([true]),
      'active missing': active(undefined),
      'active false and true': saying((text) => text.replace('{', '{"active":false,')),
      'nested ten thousand levels': saying((text) => text.replace('{', deep)),
      'longer than a megabyte': saying((text) => `${text}${' '.repeat(2 ** 20)}`),
    }),
    ...rows<BadAnswerRow>('type', {
      'refresh token': claiming({ token_type: 'refresh_token' }),
      'refresh token by its typ': claiming({ typ: 'Refresh' }),
      'refresh token by its token_use': claiming({ token_use: 'refresh_token' }),
      // As several issuers answer about their refresh tokens.
      'no kind of token': claiming({ token_type: undefined, token_use: undefined, typ: undefined }),
      'token_type as list': claiming({ token_type: ['Bearer'] }),
    }),
    // Without `cnf` also where the options bind every answer to a key.
    ['binding', 'DPoP without a key', claiming({ token_type: 'DPoP', cnf: undefined })],
  ]
}

/** Responses that are not to be read, whatever is in them. */
function wrongResponses({ defaults, sound }: BadAnswerParts): readonly BadAnswerRow[] {
  const responding =
    (status: number, headers: Readonly<Record<string, string>> = {}): Answer =>
    async (question) => {
      const answer = await answerWith(defaults, question, JSON.stringify(sound(question.origin)))
      return new Response(status === 204 ? null : answer.body, {
        status,
        headers: { ...Object.fromEntries(answer.headers), ...headers },
      })
    }
  return [
    ...rows<BadAnswerRow>('bad_answer', {
      'content type of a page': responding(200, { 'content-type': 'text/html' }),
      'content type of a token': responding(200, { 'content-type': 'application/jwt' }),
      redirect: responding(302, { location: '/elsewhere' }),
      'redirect that keeps the method': responding(307, { location: '/elsewhere' }),
      'client refused': responding(401, { 'www-authenticate': 'Basic' }),
      'client forbidden': responding(403),
      'another success': responding(201),
      'no content': responding(204),
      empty: () => jsonAnswer(''),
    }),
    ['unreachable', 'fault of the server', responding(500)],
    ['unreachable', 'too many requests', responding(429, { 'retry-after': '1' })],
  ]
}
