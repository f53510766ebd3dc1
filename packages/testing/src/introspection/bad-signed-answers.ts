import { base64url, CompactEncrypt, CompactSign } from 'jose'

import type { SigningKey } from '../keys/signing-key.ts'
import { octetsOf } from '../octets.ts'
import { rows } from '../rows.ts'
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
  return rows<BadAnswerRow>('bad_answer', {
    'plain instead of signed': ({ origin }) => jsonAnswer(sound(origin)),
    'signed, as plain JSON': async (question) => jsonAnswer(JSON.stringify(await sign(question))),
    'plain JSON, as signed': ({ origin }) => signedAnswer(sound(origin)),
    encrypted: whole(encrypted),
    'four parts': whole((jwt) => `${jwt}.`),
    'two answers': whole((jwt) => `${jwt}\n${jwt}`),
  })
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
    const { kid } = defaults.keys.state.published.publicJwk
    return kid === undefined ? {} : { kid }
  }
  const altered =
    (change: (segments: readonly string[]) => readonly unknown[]): Answer =>
    async (question) =>
      signedAnswer(change((await sign(question)).split('.')).join('.'))
  const unsigned = base64url.encode(JSON.stringify({ alg: 'none', typ: SIGNED_TYPE }))
  const confused: Answer = async (question) => {
    const [, payload = ''] = (await sign(question)).split('.')
    const secret = octetsOf(await defaults.keys.state.published.publicPem())
    return signedAnswer(
      await new CompactSign(octetsOf(base64url.decode(payload)))
        .setProtectedHeader({ alg: 'HS256', ...kidOf(), typ: SIGNED_TYPE })
        .sign(secret),
    )
  }
  return rows<BadAnswerRow>('bad_answer', {
    'key of somebody else': async (question) =>
      signedAnswer(await sign(question, { header: kidOf() }, stranger)),
    'tampered signature': altered(([header, payload]) => [
      header,
      payload,
      base64url.encode('forged'),
    ]),
    'alg none': altered(([, payload, signature]) => [unsigned, payload, signature]),
    'alg none and no signature': altered(([, payload]) => [unsigned, payload, '']),
    'HS256 keyed with the public key': confused,
  })
}

function wrongMembers(parts: BadAnswerParts): readonly BadAnswerRow[] {
  const sign = signer(parts)
  const now = Math.floor(parts.defaults.clock.now())
  const signing =
    (change: Parts): Answer =>
    async (question) =>
      signedAnswer(await sign(question, change))
  const claiming = (claims: Readonly<Record<string, unknown>>) => signing({ claims })
  return rows<BadAnswerRow>('bad_answer', {
    'wrong typ': signing({ header: { typ: 'JWT' } }),
    'typ of an access token': signing({ header: { typ: 'at+jwt' } }),
    'missing typ': signing({ omit: ['typ'] }),
    'answer of another issuer': claiming({ iss: 'https://stranger.test' }),
    'answer without an issuer': signing({ omit: ['iss'] }),
    'answer for another client': claiming({ aud: 'stranger' }),
    'answer for nobody': signing({ omit: ['aud'] }),
    'answer of long ago': claiming({ iat: now - LONG }),
    'answer of the future': claiming({ iat: now + LONG }),
    'answer without a time': signing({ omit: ['iat'] }),
    'answer that has expired': claiming({ exp: now - LONG }),
    'token_introspection missing': signing({ omit: ['token_introspection'] }),
    'token_introspection null': claiming({ token_introspection: null }),
    'token_introspection true': claiming({ token_introspection: true }),
    'token_introspection as string': async (question) => {
      const claims = { token_introspection: JSON.stringify(parts.sound(question.origin)) }
      return signedAnswer(await sign(question, { claims }))
    },
    'active outside of token_introspection': signing({
      claims: { active: true },
      omit: ['token_introspection'],
    }),
  })
}
