import { memberOf } from '../input/unread-json.ts'

// Follows the references of a description, which may lead in circles, or to other files.

const MOST_STEPS = 16
/** Characters. */
const LONGEST_REFERENCE = 1000

/** A part of a description, or the one that it refers to. `undefined` if that is in another file, or too many steps away. */
export function referredTo(part: unknown, document: unknown): unknown {
  let found = part
  for (let steps = 0; steps <= MOST_STEPS; steps++) {
    const reference = memberOf(found, '$ref')
    if (typeof reference !== 'string') return found
    found = pointedAt(reference, document)
  }
  return undefined
}

/** @see RFC 6901 section 6 */
function pointedAt(reference: string, document: unknown): unknown {
  if (!reference.startsWith('#/') || reference.length > LONGEST_REFERENCE) return undefined
  let found = document
  for (const token of reference.slice(2).split('/')) found = memberOf(found, nameIn(token))
  return found
}

function nameIn(token: string): string {
  return decoded(token).replaceAll('~1', '/').replaceAll('~0', '~')
}

function decoded(token: string): string {
  try {
    return decodeURIComponent(token)
  } catch {
    // No octets of a text: it names a member as it is.
    return token
  }
}

/** Computes each value once, since any number of references may lead to the same part. */
export function once<Value>(compute: (part: unknown) => Value): (part: unknown) => Value {
  const known = new Map<unknown, { readonly value: Value }>()
  return (part) => {
    const found = known.get(part) ?? { value: compute(part) }
    known.set(part, found)
    return found.value
  }
}
