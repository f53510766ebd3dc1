import type { AuthError } from '@portcullis/core'
import type express from 'express'
import type { FastifyRequest } from 'fastify'
import { expect, expectTypeOf, test } from 'vitest'

import { authErrorOf, findAuth, getAuth, PortcullisGuard, PortcullisModule } from '../src/index.ts'
import type { AuthException } from '../src/index.ts'
import { verifier } from './app.ts'

test('onRefusal takes the request of the platform without a cast', () => {
  const modules = [
    PortcullisModule.forRoot({
      verifier,
      onRefusal: (error, request: express.Request) => [error.reason, request.path],
    }),
    PortcullisModule.forRoot({
      verifier,
      onRefusal: (error, request: FastifyRequest) => [error.reason, request.url],
    }),
    PortcullisModule.forRootAsync({
      useFactory: () => ({
        verifier,
        onRefusal: (error, request: FastifyRequest) => [error.reason, request.url],
      }),
    }),
    PortcullisModule.forRoot({
      verifier,
      onRefusal(error, request) {
        expectTypeOf(request).toEqualTypeOf<object>()
        return error.code
      },
    }),
  ]
  const guard = new PortcullisGuard({
    verifier,
    onRefusal: (error, request: express.Request) => [error.reason, request.path],
  })
  expect([...modules, guard]).toHaveLength(5)
})

test('a factory has the types of what it gets', () => {
  const module = PortcullisModule.forRootAsync({
    inject: ['AUDIENCE'],
    useFactory(audience: string) {
      expectTypeOf(audience).toEqualTypeOf<string>()
      return { verifier }
    },
  })
  expect(module.global).toBe(true)
})

test('getAuth and findAuth take the request of either platform', () => {
  expectTypeOf(getAuth).toBeCallableWith({} as express.Request)
  expectTypeOf(getAuth).toBeCallableWith({} as FastifyRequest)
  expectTypeOf(findAuth).toBeCallableWith({} as express.Request)
})

test('a filter for AuthException gets the refusal without a check', () => {
  expectTypeOf((exception: AuthException) =>
    authErrorOf(exception),
  ).returns.toEqualTypeOf<AuthError>()
  expectTypeOf((exception: unknown) => authErrorOf(exception)).returns.toEqualTypeOf<
    AuthError | undefined
  >()
})
