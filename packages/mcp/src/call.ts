import type { Requirement } from '@portcullis/core'
import { isJsonObject, member, parseJson, textMember } from '@portcullis/kit/json'
import { own, ownMembers } from '@portcullis/kit/options'

// What the body of a request asks for: which tools it calls, and what these need. The SDK gets the very object that is judged here.

/** A body that was read, or what is wrong with it. Both members are its own: a polluted prototype must change no answer. */
export type ReadBody =
  | { readonly body: object; readonly fault: undefined }
  | { readonly body: undefined; readonly fault: 'malformed' | 'unfinished' | 'too_large' }

export async function readBody(
  chunks: AsyncIterable<Uint8Array | string>,
  maxSize: number,
): Promise<ReadBody> {
  const parts: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of chunks) {
      const octets = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      size += octets.byteLength
      if (size > maxSize) return { body: undefined, fault: 'too_large' }
      parts.push(octets)
    }
  } catch {
    // The client has left before its end.
    return { body: undefined, fault: 'unfinished' }
  }
  return bodyOf(parseJson(textOf(parts) ?? ''))
}

/**
 * What is no object could be read as another one later, and so could one with a member `__proto__`: whoever copies it member by member
 * makes a prototype of that.
 */
export function bodyOf(body: unknown): ReadBody {
  return isMessage(body) && isHarmless(body, DEEPEST) ? { body, fault: undefined } : MALFORMED
}

/** Read anew, since an object of a parser may inherit members, or have functions in their place, which answer something else each time. */
export function copyOf(body: unknown): ReadBody {
  if (!isMessage(body)) return MALFORMED
  try {
    return bodyOf(parseJson(JSON.stringify(body)))
  } catch {
    // It is nothing that JSON has a text for.
  }
  return MALFORMED
}

const MALFORMED: ReadBody = { body: undefined, fault: 'malformed' }

/** As `parseJson`: levels. */
const DEEPEST = 1000

function isMessage(body: unknown): body is object {
  return typeof body === 'object' && body !== null && !ArrayBuffer.isView(body)
}

function isHarmless(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (levels === 0 || Object.hasOwn(value, '__proto__')) return false
  return Object.values(value).every((each) => isHarmless(each, levels - 1))
}

function textOf(parts: readonly Uint8Array[]): string | undefined {
  try {
    return new TextDecoder('utf-8', FATAL).decode(Buffer.concat(parts))
  } catch {
    // It is no UTF-8.
  }
  return undefined
}

/** Without inherited members, which the platform reads as well. */
const FATAL = ownMembers({ fatal: true })

/**
 * Each requirement names the scopes of all: a client that is asked for a log-in, or for one scope, alone may come back with a token that
 * lacks what it had before.
 * @param body `undefined` for a request without one.
 * @param letIn What a token must have beside that: the scope that stands for an audience.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#runtime-insufficient-scope-errors
 */
export function requirementsOf(
  body: object | undefined,
  base: Requirement | undefined,
  tools: ReadonlyMap<string, Requirement> | undefined,
  letIn: string | undefined,
): readonly Requirement[] {
  // Revisions before 2025-06-18 may send several messages in a list.
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body]
  const called = new Set(messages.flatMap((message) => tools?.get(toolOf(message) ?? '') ?? []))
  const ofAll = base === undefined ? [] : flatten(base)
  const ofTools = [...called].flatMap(flatten)
  const scope = joined([...scopesIn(ofAll), letIn, ...scopesIn(ofTools)])
  const needed = [...ofAll, ...ofTools]
  return needed.map((each) => (isMetByAsking(each) ? naming(scope, each) : each))
}

function scopesIn(requirements: readonly Requirement[]): readonly (string | undefined)[] {
  return requirements.map((each) => own(each, 'scope'))
}

/** All scopes of these lists, each once. */
export function joined(lists: readonly (string | undefined)[]): string {
  const scopes = lists.flatMap((each) => each?.split(' ') ?? [])
  return [...new Set(scopes)].filter((each) => each !== '').join(' ')
}

/** Of what a claim or a function decides, no scope in the challenge would help. */
function isMetByAsking(requirement: Requirement): boolean {
  return own(requirement, 'scope') !== undefined || ['acr', 'age'].includes(requirement.reason)
}

function flatten(requirement: Requirement): readonly Requirement[] {
  return own(requirement, 'parts')?.flatMap(flatten) ?? [requirement]
}

function naming(scope: string, requirement: Requirement): Requirement {
  const { reason, description } = requirement
  return ownMembers<Requirement>({
    reason,
    description,
    explain: own(requirement, 'explain'),
    scope: scope === '' ? undefined : scope,
    acr: own(requirement, 'acr'),
    maxAge: own(requirement, 'maxAge'),
    isMetBy: (auth, acceptance) => requirement.isMetBy(auth, acceptance),
  })
}

function toolOf(message: unknown): string | undefined {
  if (!isJsonObject(message) || member(message, 'method') !== 'tools/call') return undefined
  const params = member(message, 'params')
  return isJsonObject(params) ? textMember(params, 'name') : undefined
}
