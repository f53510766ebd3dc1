import { validateHeaderValue } from 'node:http'

import fc from 'fast-check'

import { AuthError } from '../../../../packages/core/src/refusal/errors.ts'
import { checkGuardOptions } from '../../../../packages/core/src/request/guard-options.ts'
import { scope } from '../../../../packages/core/src/requirement/requirement.ts'
import { anyCharacter, mostly } from '../inputs.ts'
import { type FuzzTarget, hold } from '../target.ts'

/** RFC 9110 section 11.2: parameters in quotes, which hide whatever is in them. */
const CHALLENGE = /^Bearer (?:[a-z_]+="(?:[^"\\]|\\["\\])*"(?:, (?!$)|$))+$/

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: anyCharacter }),
  fc.stringMatching(/^["\\=, a]*$/),
)

/** Three lines: realm, scopes and the URL of the metadata, as far as start-up lets them through. */
export const challenge: FuzzTarget = {
  inputs: fc.tuple(text, text, mostly(fc.webUrl(), text)).map((lines) => lines.join('\n')),
  run(input) {
    const [realm = '', scopes = '', ...rest] = input.split('\n')
    const presentation = {
      ...accepted({ realm }),
      ...accepted({ resourceMetadata: rest.join('\n') }),
    }
    const options = { ...presentation, scope: acceptedScope(scopes) }
    const error = new AuthError('insufficient_scope', 'scope', options)
    for (const [name, value] of Object.entries(error.headers)) validateHeaderValue(name, value)
    const written = error.headers['WWW-Authenticate'] ?? ''
    hold(CHALLENGE.test(written), 'a challenge with nothing but parameters')
    hold(/^[\u0020-\u007E]+$/.test(written), 'printable ASCII')
    hold(parameter(written, 'realm') === (options.realm ?? 'api'), 'the realm reads as it was')
    hold(parameter(written, 'scope') === options.scope, 'the scope reads as it was')
  },
}

/** Options that a guard takes; none, if it refuses these. */
function accepted<Options extends object>(options: Options): Options | undefined {
  try {
    checkGuardOptions({ verify() {} }, options)
    return options
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

function acceptedScope(scopes: string): string | undefined {
  try {
    return scope(scopes).scope
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

function parameter(written: string, wanted: string): string | undefined {
  const parameters = written.matchAll(/(?<name>[a-z_]+)="(?<value>(?:[^"\\]|\\.)*)"/g)
  const found = [...parameters].find(({ groups }) => groups?.['name'] === wanted)
  return found?.groups?.['value']?.replaceAll(/\\(.)/g, '$1')
}
