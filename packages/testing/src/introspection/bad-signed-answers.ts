import { base64url, CompactEncrypt, CompactSign } from 'jose'

import type { SigningKey } from '../keys/signing-key.ts'
import { octetsOf } from '../octets.ts'
import { jsonAnswer, SIGNED_TYPE, signAnswer, signedAnswer } from './answers.ts'
import type { BadAnswerParts, BadAnswerRow } from './bad-answer.ts'
import type { Answer, Question } from './opaque-tokens.ts'

// Answers that are refused where signed ones are demanded. RFC 9701 sections 5 and 8.

/** Longer than a verifier can be lenient about times. Seconds. */
const LONG = 3600

export function badSignedAnswers(parts: BadAnswerParts): readonly BadAnswerRow[] {
  return [...wrongForms(parts), ...wrongSignatures(parts), ...wrongMembers(parts)]
}

type Parts = Parameters<typeof signAnswer>[2]

/** Signs an answer that is sound but for what is stated. */
function signer({ defaults, sound }: BadAnswerParts) {
  return async (question: Question, parts: Parts = {}, key?: SigningKey) => {
    const claims = { token_introspection: sound(question.origin), ...parts.claims }
    return await signAnswer(defaults, question, { ...parts, claims }, key)
  }
}

function wrongForms(parts: BadAnswerParts): readonly BadAnswerRow[] {
  const sign = signer(parts)
  const sound = (origin: string) => JSON.stringify(parts.sound(origin))
  const whole =
    (make: (jwt: string) => string | Promise<string>): Answer =>
    async (question) =>
      signedAnswer(await make(await sign(question)))
  return [
    ['bad_answer', 'plain instead of signed', ({ origin }) => jsonAnswer(sound(origin))],
    [
      'bad_answer',
      'signed, as plain JSON',
      async (question) => jsonAnswer(JSON.stringify(await sign(question))),
    ],
    ['bad_answer', 'plain JSON, as signed', ({ origin }) => signedAnswer(sound(origin))],
    ['bad_answer', 'encrypted', whole(async (jwt) => await encrypted(jwt))],
    ['bad_answer', 'four parts', whole((jwt) => `${jwt}.`)],
    ['bad_answer', 'two answers', whole((jwt) => `${jwt}\n${jwt}`)],
  ]
}

async function encrypted(jwt: string): Promise<string> {
  return await new CompactEncrypt(octetsOf(jwt))
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', cty: 'JWT' })
    .encrypt(crypto.getRandomValues(new Uint8Array(32)))
}

function wrongSignatures(parts: BadAnswerParts): readonly BadAnswerRow[] {
  const sign = signer(parts)
  const { stranger, defaults } = parts
  const kidOf = () => {
    const { kid } = defaults.keys.published.publicJwk
    return kid === undefined ? {} : { kid }
  }
  const altered =
    (change: (segments: readonly string[]) => readonly string[]): Answer =>
    async (question) =>
      signedAnswer(change((await sign(question)).split('.')).join('.'))
  const unsigned = base64url.encode(JSON.stringify({ alg: 'none', typ: SIGNED_TYPE }))
  return [
    [
      'bad_answer',
      'key of somebody else',
      async (question) => signedAnswer(await sign(question, { header: kidOf() }, stranger)),
    ],
    [
      'bad_answer',
      'tampered signature',
      altered(([header = '', payload = '']) => [header, payload, base64url.encode('forged')]),
    ],
    [
      'bad_answer',
      'alg none',
      altered(([, payload = '', signature = '']) => [unsigned, payload, signature]),
    ],
    [
      'bad_answer',
      'alg none and no signature',
      altered(([, payload = '']) => [unsigned, payload, '']),
    ],
    [
      'bad_answer',
      'HS256 keyed with the public key',
      async (question) => {
        const [, payload = ''] = (await sign(question)).split('.')
        const secret = octetsOf(await defaults.keys.published.publicPem())
        return signedAnswer(
          await new CompactSign(octetsOf(base64url.decode(payload)))
            .setProtectedHeader({ alg: 'HS256', ...kidOf(), typ: SIGNED_TYPE })
            .sign(secret),
        )
      },
    ],
  ]
}

function wrongMembers(parts: BadAnswerParts): readonly BadAnswerRow[] {
  const sign = signer(parts)
  const now = Math.floor(parts.defaults.clock.now())
  const signing =
    (change: Parts | ((question: Question) => Parts)): Answer =>
    async (question) =>
      signedAnswer(await sign(question, typeof change === 'function' ? change(question) : change))
  const claiming = (claims: Readonly<Record<string, unknown>>) => signing({ claims })
  return [
    ['bad_answer', 'wrong typ', signing({ header: { typ: 'JWT' } })],
    ['bad_answer', 'typ of an access token', signing({ header: { typ: 'at+jwt' } })],
    ['bad_answer', 'missing typ', signing({ omit: ['typ'] })],
    ['bad_answer', 'answer of another issuer', claiming({ iss: 'https://stranger.test' })],
    ['bad_answer', 'answer without an issuer', signing({ omit: ['iss'] })],
    ['bad_answer', 'answer for another client', claiming({ aud: 'stranger' })],
    ['bad_answer', 'answer for nobody', signing({ omit: ['aud'] })],
    ['bad_answer', 'answer of long ago', claiming({ iat: now - LONG })],
    ['bad_answer', 'answer of the future', claiming({ iat: now + LONG })],
    ['bad_answer', 'answer without a time', signing({ omit: ['iat'] })],
    ['bad_answer', 'answer that has expired', claiming({ exp: now - LONG })],
    ['bad_answer', 'token_introspection missing', signing({ omit: ['token_introspection'] })],
    ['bad_answer', 'token_introspection null', claiming({ token_introspection: null })],
    ['bad_answer', 'token_introspection true', claiming({ token_introspection: true })],
    [
      'bad_answer',
      'token_introspection as string',
      signing(({ origin }) => ({
        claims: { token_introspection: JSON.stringify(parts.sound(origin)) },
      })),
    ],
    [
      'bad_answer',
      'active outside of token_introspection',
      signing({ claims: { active: true }, omit: ['token_introspection'] }),
    ],
  ]
}
