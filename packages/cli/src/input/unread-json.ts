import { parseJson } from '@portcullis/kit/json'

// JSON that others wrote, of which nothing is known. Whatever cannot be read is `undefined`.

/** A member of what need not be an object. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}

/** A member of the header of what need not be a token. */
export function headerMember(token: string, name: string): unknown {
  const [header = ''] = token.split('.', 1)
  return memberOf(parseJson(Buffer.from(header, 'base64url').toString('utf8')), name)
}

/** The entries of a key document: of a set its list, otherwise the document itself. */
export function entriesOf(document: unknown): readonly unknown[] {
  const list = memberOf(document, 'keys')
  return Array.isArray(list) ? (list as readonly unknown[]) : [document]
}
