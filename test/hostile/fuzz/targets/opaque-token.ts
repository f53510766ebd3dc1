import { authenticateRequest, type Verifier } from '@portcullis/core'
import { byForm, introspected, type TokenForm } from '@portcullis/introspection'
import { isJsonObject } from '@portcullis/kit/json'
import { manualClock } from '@portcullis/testing'
import fc from 'fast-check'

import { AuthError } from '../../../../packages/core/src/refusal/errors.ts'
import { anyCharacter, base64url, mostly, parseJson } from '../inputs.ts'
import { type FuzzTarget, hold } from '../target.ts'

const ISSUER = 'https://issuer.example'

/** What an alphabet may consist of: printable ASCII, but for what separates values in headers, and what another reader may decode. */
const PERMITTED: ReadonlySet<string> = new Set(
  '!#$&()*+-./0123456789:<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~',
)
/** RFC 6750 section 2.1. */
const B64TOKEN = /^[A-Za-z0-9._~+/-]+=*$/
const CREDENTIALS = /^[Bb][Ee][Aa][Rr][Ee][Rr] +(?<text>[^ ].*)$/s
const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'
const WIDE = `${LETTERS}${LETTERS.toUpperCase()}.:!|`

/** Longer ones may be refused for their size. Characters. */
const SHORT = 4096

const alphabet = mostly(
  fc.oneof(
    fc.constantFrom('', WIDE, WIDE, `${WIDE}={}"`, `${LETTERS}:`, `${LETTERS}|`),
    fc.string({ minLength: 1, maxLength: 1 }).map((each) => `${WIDE}${each}`),
  ),
  fc.string({ unit: anyCharacter }),
)
const prefix = mostly(fc.constantFrom('', '', 'user:', '12|', 'ey'), fc.string())
const text = mostly(
  fc.oneof(
    fc.constantFrom(
      'user:grant:secret',
      '12|abc',
      'e!yJhbGciOiJSUzUxMiJ9.e30.a',
      'abc',
      'a,b',
      '=',
    ),
    fc.constantFrom(
      'eyJhbGciOiJSUzUxMiJ9.e30.c2ln',
      'eyJhbGciOiJSUzUxMiJ9:e30',
      '{"alg":"RS512"}.a',
    ),
    base64url,
    fc.string({ unit: fc.constantFrom(...LETTERS.split(''), ':', '|', '.', 'ey') }),
  ),
  fc.string({ unit: anyCharacter }),
)
const scheme = mostly(fc.constantFrom('Bearer ', 'bearer   '), fc.string())

/**
 * An alphabet, a prefix and the header `Authorization`, one a line: what a guard lets through to the issuer of opaque tokens, alone and
 * beside JWTs.
 */
export const opaqueToken: FuzzTarget = {
  inputs: fc
    .tuple(
      alphabet,
      prefix,
      fc.tuple(scheme, text).map((parts) => parts.join('')),
    )
    .map((lines) => lines.join('\n')),
  async run(input) {
    const [characters = '', beginning = '', ...rest] = input.split('\n')
    const header = rest.join('\n')
    const form = {
      ...(characters === '' ? {} : { alphabet: characters }),
      ...(beginning === '' ? {} : { prefix: beginning }),
    }
    const asked: string[] = []
    const opaque = opaqueOf(form, asked)
    hold((opaque !== undefined) === isPossible(form), 'a form is taken if a token can have it')
    if (opaque === undefined) return

    const { text: sent = '' } = CREDENTIALS.exec(header)?.groups ?? {}
    const fits = sent !== '' && isOf(sent, form)
    hold((await isAccepted(opaque, header)) === asked.length > 0, 'only the issuer accepts')
    hold(
      asked.every((each) => each === sent),
      'the issuer is asked for the very text',
    )
    hold(asked.length === 0 || fits, 'and for nothing that has another form')
    hold(asked.length > 0 || !fits || sent.length > SHORT, 'but for all that has this one')

    asked.length = 0
    const jwts: string[] = []
    // Anew, since the answer is remembered.
    const besideJwts = opaqueOf(form, asked) ?? opaque
    await isAccepted(byForm({ jwt: recording(jwts), opaque: besideJwts }), header)
    hold(
      asked.length === 0 || (fits && !beginsAsJwt(sent)),
      'what begins as a JWT is none of these',
    )
    hold(
      jwts.every((each) => each === sent && B64TOKEN.test(each)),
      'and keeps the characters of a bearer token',
    )
  },
}

/** `undefined` for a form that is refused at start-up. */
function opaqueOf(form: TokenForm, asked: string[]): Verifier | undefined {
  try {
    return introspected({
      issuer: ISSUER,
      audience: 'api',
      endpoint: `${ISSUER}/introspect`,
      clientId: 'client',
      clientSecret: 'secret',
      ...(Object.keys(form).length === 0 ? {} : { form }),
      clock: manualClock(),
      async fetch(_url, { body }) {
        asked.push(new URLSearchParams(String(body)).get('token') ?? '')
        return Response.json({
          active: true,
          iss: ISSUER,
          aud: 'api',
          exp: 4e9,
          token_type: 'Bearer',
        })
      },
    })
  } catch (error) {
    if (error instanceof TypeError && error.message.startsWith('introspected: form '))
      return undefined
    throw error
  }
}

/** In the place of a verifier of JWTs: refuses all of them. */
function recording(texts: string[]): Verifier {
  return {
    async verify(token) {
      texts.push(token)
      return await Promise.reject(new AuthError('invalid_token', 'signature'))
    },
    ready: async () => {},
  }
}

async function isAccepted(verifier: Verifier, header: string): Promise<boolean> {
  try {
    const request = { headers: { authorization: header }, rawHeaders: ['Authorization', header] }
    return (await authenticateRequest(verifier, request)) !== undefined
  } catch (error) {
    if (error instanceof AuthError) return false
    throw error
  }
}

function isPossible({ alphabet: characters, prefix: beginning = '' }: TokenForm): boolean {
  if (characters === undefined) return beginning === '' || B64TOKEN.test(beginning)
  return (
    characters.split('').every((each) => PERMITTED.has(each)) &&
    beginning.split('').every((each) => characters.includes(each))
  )
}

function isOf(token: string, { alphabet: characters, prefix: beginning = '' }: TokenForm): boolean {
  if (!token.startsWith(beginning)) return false
  if (characters === undefined) return B64TOKEN.test(token)
  return token.split('').every((each) => characters.includes(each))
}

/** As a reader would have it that passes over whatever is no base64. */
function beginsAsJwt(token: string): boolean {
  const [first = '', ...others] = token.split('.')
  if (others.length === 0) return false
  const header = parseJson(Buffer.from(first, 'base64').toString())
  return isJsonObject(header) && Object.keys(header).length > 0
}
