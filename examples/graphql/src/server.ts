import {
  authorizeRequest,
  createVerifier,
  getAuth,
  refusal,
  remoteKeys,
  type Requirement,
  scope,
  type Verifier,
} from '@portcullis/core'
import { authenticate } from '@portcullis/express'
import express, { type Express, type Request } from 'express'
import { GraphQLError } from 'graphql'
import { createSchema, createYoga } from 'graphql-yoga'

const { AUTH_URL = 'http://127.0.0.1:4010', PORT = '3000' } = process.env

interface Context {
  readonly req: Request
}

// Each field states what it requires, however a query, an alias or a batch reaches it.
async function requires({ req }: Context, ...requirements: readonly Requirement[]): Promise<void> {
  await authorizeRequest(req, requirements).catch((error: unknown) => {
    const answer = refusal(error)
    if (answer === undefined) throw error
    const { code, status, headers, message } = answer
    throw new GraphQLError(message, { extensions: { code, http: { status, headers } } })
  })
}

export function createApi(verifier: Verifier): Express {
  const schema = createSchema<Context>({
    typeDefs: 'type Query { me: String  salary: Int }',
    resolvers: {
      Query: {
        me: (_parent, _args, { req }) => getAuth(req).claims.sub,
        async salary(_parent, _args, context) {
          await requires(context, scope('salary:read'))
          return 42
        },
      },
    },
  })
  const yoga = createYoga<Context>({ schema, graphiql: false })
  return express().use(
    '/graphql',
    authenticate(verifier, { respond: 'problem' }),
    (request, response) => void yoga(request, response),
  )
}

const keys = remoteKeys(`${AUTH_URL}/tokenservice/pubkey.json`)
// The tokens of this service have neither `iss` nor `aud`
const verifier = createVerifier({ keys, issuer: null, audience: null })
export const server = createApi(verifier).listen(Number(PORT), '127.0.0.1')
