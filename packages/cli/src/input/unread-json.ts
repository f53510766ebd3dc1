import { parseJson } from '@portcullis/kit/json'

// JSON that others wrote, of which nothing is known. Whatever cannot be read is `undefined`.

export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}

/** What a part of a token says: the header, or the claims, which nothing has proven. */
export function partOf(token: string, part: 'header' | 'payload'): unknown {
  const text = token.split('.', 2)[part === 'header' ? 0 : 1] ?? ''
  return parseJson(Buffer.from(text, 'base64url').toString('utf8'))
}

export function entriesOf(document: unknown): readonly unknown[] {
  const list = memberOf(document, 'keys')
  return Array.isArray(list) ? (list as readonly unknown[]) : [document]
}
