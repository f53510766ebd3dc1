import type { ServerResponse } from 'node:http'

// Sees the head of an answer of `node:http` before it is sent, whoever sends it and however; and whether anybody will get it.

export interface Head {
  readonly status: number
  /** The header `Mcp-Session-Id`. */
  readonly begun: string | undefined
  readonly contentType: string | undefined
}

/**
 * Before the head is sent, once. If it throws, the answer is not sent, and whoever has answered gets the error. Everything that sends a head
 * calls `writeHead` of the response, and a property of its own comes before that of its class.
 */
export function watchHead(response: ServerResponse, seen: (head: Head) => void): void {
  const writeHead = response.writeHead.bind(response)
  let isSeen = false
  response.writeHead = (...args: unknown[]): ServerResponse => {
    if (!isSeen) {
      seen({
        status: Number(args[0]),
        begun: headerOf(response, args, 'mcp-session-id'),
        contentType: headerOf(response, args, 'content-type'),
      })
      isSeen = true
    }
    return Reflect.apply(writeHead, undefined, args) as ServerResponse // what it returns
  }
}

/** Whether the client has left already. An answer of HTTP/2 says so by its stream alone. */
export function hasLeft(
  response: ServerResponse & { readonly stream?: { readonly destroyed?: boolean } },
): boolean {
  return response.destroyed || response.stream?.destroyed === true
}

/** A header of the call itself, else one that was set before. */
function headerOf(response: ServerResponse, args: readonly unknown[], name: string) {
  const stated = args.find((each) => typeof each === 'object' && each !== null)
  const found = entriesOf(stated).find(([each]) => String(each).toLowerCase() === name)
  const value: unknown = found === undefined ? response.getHeader(name) : found[1]
  if (Array.isArray(value)) return value.join(', ')
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

/** An object, or a list in one of the two forms that Node takes. */
function entriesOf(headers: unknown): readonly (readonly unknown[])[] {
  if (!Array.isArray(headers)) return Object.entries(headers ?? {})
  const list: readonly unknown[] = headers
  if (list.every((each) => Array.isArray(each))) return list
  return list.flatMap((each, at) => (at % 2 === 0 ? [[each, list[at + 1]]] : []))
}
