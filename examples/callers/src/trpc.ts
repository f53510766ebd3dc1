import type { IncomingMessage, Server } from 'node:http'

import {
  authenticateRequest,
  authorizeRequest,
  createVerifier,
  getAuth,
  refusal,
  remoteKeys,
  type Requirement,
  scope,
  type Verifier,
} from '@portcullis/core'
import { initTRPC, TRPCError } from '@trpc/server'
import { createHTTPServer } from '@trpc/server/adapters/standalone'

const { AUTH_URL = 'http://127.0.0.1:4010', PORT = '3000' } = process.env
const CODES = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  503: 'SERVICE_UNAVAILABLE',
} as const

function refuse(cause: unknown): never {
  const answer = refusal(cause)
  if (answer === undefined) throw cause
  throw new TRPCError({ code: CODES[answer.status], message: answer.message, cause })
}

const t = initTRPC.context<{ request: IncomingMessage }>().create()

const requires = (requirement: Requirement) =>
  t.procedure.use(async ({ ctx, next }) => {
    await authorizeRequest(ctx.request, [requirement]).catch(refuse)
    return await next()
  })

const router = t.router({
  me: t.procedure.query(({ ctx }) => String(getAuth(ctx.request).claims.sub)),
  salary: requires(scope('salary:read')).query(() => 42),
})
export type Router = typeof router

export function createApi(verifier: Verifier): Server {
  return createHTTPServer({
    router,
    async createContext({ req: request }) {
      await authenticateRequest(verifier, request).catch(refuse)
      return { request }
    },
    // The calls of a batch share one answer: it has the challenge of the first that was refused.
    responseMeta: ({ errors }) => ({
      headers: { ...errors.flatMap(({ cause }) => refusal(cause) ?? [])[0]?.headers },
    }),
  })
}

const keys = remoteKeys(`${AUTH_URL}/tokenservice/pubkey.json`)
// The tokens of this service have neither `iss` nor `aud`
const verifier = createVerifier({ keys, issuer: null, audience: null })
export const server = createApi(verifier).listen(Number(PORT), '127.0.0.1')
