import { createHash, timingSafeEqual } from 'node:crypto'

import type { Routes } from '@portcullis/testing'

import { isLoopback } from './secret.ts'

// Decides who may use the control interface, the console and the log-in, before the body of a request is read.

/** What is wrong with who asks; `undefined` if nothing is. */
export type Gate = (request: Request) => Denial | undefined

export interface Denial {
  readonly status: 401 | 403
  readonly error: string
}

/**
 * A page of another site may not ask: neither by a name that it lets point to this machine (DNS rebinding), nor by a form or a script.
 * @param secret Demanded as a bearer token, or as the password of any user: browsers know no other way, and then send it with what other
 * sites let them ask as well. Without it, all who reach the loopback may.
 */
export function createGate(secret: string | undefined): Gate {
  return (request) => {
    const foreign = foreignHost(request, secret)
    if (foreign !== undefined) return foreign
    if (!isSameOrigin(request)) {
      return { status: 403, error: 'a page of another origin may not ask this' }
    }
    if (secret !== undefined && !isSame(secretOf(request), secret)) {
      return { status: 401, error: 'the secret that `portcullis serve` printed is needed' }
    }
    return undefined
  }
}

/** The public keys, alone and as a set, and the metadata that lead to them. */
const PUBLIC = /^\/(?:tokenservice\/(?:pubkey|jwks)\.json|\.well-known\/[\w-]+)$/

/** A page whose name points to this machine could log in, and read the token. The keys are for all. */
export function createHostCheck(secret: string | undefined): Routes {
  return (request) => {
    if (PUBLIC.test(new URL(request.url).pathname)) return undefined
    const denial = foreignHost(request, secret)
    return denial && Response.json({ error: denial.error }, { status: denial.status })
  }
}

/** On the loopback, the name under which a request came must be one of this machine. */
function foreignHost({ headers }: Request, secret: string | undefined): Denial | undefined {
  if (secret !== undefined || isLoopback(hostnameOf(headers.get('host') ?? ''))) return undefined
  return { status: 403, error: 'the Host header must name this machine, such as localhost' }
}

/** What browsers say of where a request comes from. Other programs say nothing. */
function isSameOrigin({ method, headers }: Request): boolean {
  const origin = headers.get('origin')
  if (origin !== null && origin !== `http://${headers.get('host') ?? ''}`) return false
  const site = headers.get('sec-fetch-site')
  // `none`: the user typed the address, which never posts.
  return site === null || site === 'same-origin' || (site === 'none' && method === 'GET')
}

function secretOf({ headers }: Request): string {
  const [, scheme = '', given = ''] =
    /^(Bearer|Basic) +(\S+)$/i.exec(headers.get('authorization') ?? '') ?? []
  if (scheme.toLowerCase() !== 'basic') return given
  const [, password = ''] = /^[^:]*:(.*)$/s.exec(Buffer.from(given, 'base64').toString()) ?? []
  return password
}

/** Digests have one length. */
function isSame(given: string, secret: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(secret))
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** What is no host stays, and is no loopback. */
function hostnameOf(host: string): string {
  return host.replace(/:\d{1,5}$/, '')
}
