import 'reflect-metadata'
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo'
import { type LoggerService, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { Field, GraphQLModule, ObjectType, Query, Resolver } from '@nestjs/graphql'
import { ExpressAdapter } from '@nestjs/platform-express'
import { createVerifier, remoteKeys, scope, type Verifier } from '@portcullis/core'
import { PortcullisModule, Public, Requires } from '@portcullis/nest'
import { createTestIssuer } from '@portcullis/testing'
import { expect, test } from 'vitest'

// What a client of Apollo sees of a refusal: by the code in `extensions` it knows that it has to log in again.

const issuer = await createTestIssuer()
const verifier = createVerifier(issuer.verifierOptions)
const reader = await issuer.bearer({ claims: { sub: 'ada', scope: 'read' } })

@ObjectType()
class Place {
  @Field(() => String)
  name = 'harbour'
}

@Resolver(() => Place)
class Places {
  @Query(() => Place)
  place(): Place {
    return new Place()
  }

  @Requires(scope('write'))
  @Query(() => Place)
  written(): Place {
    return new Place()
  }

  @Public()
  @Query(() => Place)
  open(): Place {
    return new Place()
  }
}

interface Answered {
  readonly data?: unknown
  readonly errors?: readonly {
    readonly message: string
    readonly path: readonly string[]
    readonly extensions: Readonly<Record<string, unknown>>
  }[]
}

async function asked(
  query: string,
  headers: Readonly<Record<string, string>> = {},
  by: Verifier = verifier,
): Promise<Answered & { readonly logged: readonly unknown[] }> {
  class Root {}
  const driver = GraphQLModule.forRoot<ApolloDriverConfig>({
    driver: ApolloDriver,
    autoSchemaFile: true,
    includeStacktraceInErrorResponses: false,
  })
  Module({ imports: [PortcullisModule.forRoot({ verifier: by }), driver], providers: [Places] })(
    Root,
  )
  const logged: unknown[] = []
  const log = (message: unknown): void => void logged.push(message)
  const logger: LoggerService = { log() {}, warn: log, error: log, fatal: log }
  const app = await NestFactory.create(Root, new ExpressAdapter(), { logger, abortOnError: false })
  await app.listen(0, '127.0.0.1')
  try {
    const response = await fetch(`${await app.getUrl()}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query }),
    })
    return { ...((await response.json()) as Answered), logged }
  } finally {
    await app.close()
  }
}

test('with a token a resolver answers, and without one what is public', async () => {
  const { data } = await asked('{ place { name } open { name } }', reader)
  expect(data).toEqual({ place: { name: 'harbour' }, open: { name: 'harbour' } })
  expect((await asked('{ open { name } }')).data).toEqual({ open: { name: 'harbour' } })
})

const down = createVerifier({
  keys: remoteKeys('https://auth.test/keys', { fetch: () => Promise.reject(new Error('down')) }),
  issuer: null,
  audience: null,
})

test.each<[string, string, Readonly<Record<string, string>>, Verifier, string, object]>([
  [
    'no token',
    '{ place { name } }',
    {},
    verifier,
    'An access token is required',
    { code: 'UNAUTHENTICATED', error: 'missing_token', challenge: 'Bearer realm="api"' },
  ],
  [
    'a forged one',
    '{ place { name } }',
    { authorization: 'Bearer a.b.c' },
    verifier,
    'The access token is not valid',
    {
      code: 'UNAUTHENTICATED',
      error: 'invalid_token',
      challenge:
        'Bearer realm="api", error="invalid_token", error_description="The access token is not valid"',
    },
  ],
  [
    'one that lacks a scope',
    '{ written { name } }',
    reader,
    verifier,
    'The access token lacks a required scope',
    {
      code: 'FORBIDDEN',
      error: 'insufficient_scope',
      challenge: expect.stringContaining('scope="write"') as string,
    },
  ],
  [
    'an outage of the keys',
    '{ place { name } }',
    reader,
    down,
    'Access tokens cannot be verified at the moment',
    {
      code: 'SERVICE_UNAVAILABLE',
      error: 'keys_unavailable',
      retryAfter: expect.any(Number) as number,
    },
  ],
])('%s: the error says so, and nothing is logged', async (_, query, headers, by, message, said) => {
  const { errors = [], logged } = await asked(query, headers, by)
  expect(errors).toMatchObject([{ message, path: [/\w+/.exec(query)?.[0]] }])
  expect(errors[0]?.extensions).toEqual(said)
  expect(logged).toEqual([])
})
