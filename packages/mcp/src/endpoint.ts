import {
  type Auth,
  authenticateRequest,
  authorizeRequest,
  type FetchRequest,
  type RequestHeaders,
  type Verifier,
  type WaitUntil,
} from '@portcullis/core'
import { requireAudience, type TokenOwner } from '@portcullis/core/adapter'
import { callListener, debug } from '@portcullis/kit/report'

import { type AuthInfo, authInfoOf } from './auth-info.ts'
import { requirementsOf } from './call.ts'
import type { CheckedOptions } from './checked-options.ts'
import { createOwners } from './owner.ts'
import { createSessions } from './sessions.ts'

// What both forms of an endpoint do with a request: its token, the audience and the session; then what it and its calls of tools need.

type Place = 'metadata' | 'endpoint' | undefined

export interface Admission {
  readonly auth: Auth<unknown>
  readonly info: AuthInfo
  /** Whose the sessions are that it begins. */
  readonly owner: TokenOwner
}

/** A request in the parts that the two forms keep it in. */
interface AskedRequest {
  readonly request: RequestHeaders | FetchRequest
  /** What handlers get, and `onRefusal`. */
  readonly subject: object
  readonly sessionId: string | undefined
  readonly waitUntil?: WaitUntil | undefined
}

export interface Endpoint {
  /** @param query With its question mark; empty without one. */
  placeOf(path: string, query: string): Place
  /** @returns `undefined` for an unknown session and another user's alike: the answer must be the same. @throws AuthError */
  admit(asked: AskedRequest): Promise<Admission | undefined>
  /** @throws AuthError `insufficient_scope` or `insufficient_user_authentication` */
  authorize(subject: object, body: object | undefined): Promise<void>
  /** @throws Error for an id that another user's session has; TypeError for a session of a server that has said to have none. */
  answered(admission: Admission, answer: AnsweredSession): void
}

/** What an answer, and the request for it, say of a session. */
interface AnsweredSession {
  /** The header `Mcp-Session-Id` of the answer. */
  readonly begun: string | undefined
  /** The session that the request has ended: with DELETE, if the answer says that it succeeded. */
  readonly ended: string | undefined
}

export function createEndpoint(verifier: Verifier<unknown>, options: CheckedOptions): Endpoint {
  const { guard, metadata, path, requirement, resource, audience, clients, tools } = options
  const { search } = new URL(resource)
  const shown = { resource, metadataUrl: metadata.url }
  const sessions = options.sessions && createSessions(options.sessions, toldTo(options))
  const ownerOf = createOwners(verifier, { ...options, owner: sessions && options.owner })

  async function admit({ request, subject, sessionId, waitUntil }: AskedRequest) {
    const parts = [request, guard as object, subject, request, waitUntil] as const
    const auth = await authenticateRequest(verifier, ...parts)
    // The guard is not optional.
    // Mistake `the request is anonymous`: A verifier of your own let a request without a token through to an MCP endpoint. Each
    // request needs one.
    if (auth === undefined) throw new TypeError('the request is anonymous')
    requireAudience(subject, audience, clients)
    const owner = ownerOf(auth)
    if (sessionId !== undefined && sessions !== undefined) {
      const status = sessions.statusOf(sessionId, owner)
      if (status !== 'own') {
        debug(
          () => `mcp: 404 ${status === 'other' ? 'session of another user' : 'unknown session'}`,
        )
        const told = status === 'other' ? options.onForeignSession : undefined
        // The endpoint with this function was given this subject.
        void callListener('onForeignSession', () => told?.(auth, subject as never))
        return undefined
      }
    }
    return { auth, info: authInfoOf(auth, owner.client, shown), owner }
  }

  return {
    placeOf(asked, query) {
      // What has another query is another resource, where the resource has one: its token must not reach the data of others.
      if (search !== '' && query !== search) return undefined
      // Clients write a slash at the end or leave it out, whatever they were told.
      if (withoutSlash(asked) === withoutSlash(metadata.path)) return 'metadata'
      return asked === path ? 'endpoint' : undefined
    },
    admit,
    async authorize(subject, body) {
      const needed = requirementsOf(body, requirement, tools, clients?.scope)
      if (needed.length > 0) await authorizeRequest(subject, needed)
    },
    answered({ owner }, { begun, ended }) {
      if (ended !== undefined) sessions?.end(ended)
      else if (begun !== undefined) {
        if (sessions === undefined) {
          // Mistake `the server has begun a session`: Leave `sessions: false` out, or let the server answer without sessions.
          throw new TypeError(
            'the server has begun a session, but the endpoint has sessions: false',
          )
        }
        sessions.begin(begun, owner)
      }
    },
  }
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path
}

function toldTo({ onSessionEnd }: CheckedOptions): CheckedOptions['onSessionEnd'] {
  return (
    onSessionEnd &&
    ((id, why) => {
      void callListener('onSessionEnd', () => onSessionEnd(id, why))
    })
  )
}
