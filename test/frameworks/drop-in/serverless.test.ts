import type { IncomingMessage, ServerResponse } from 'node:http'

import awsLambda from '@fastify/aws-lambda'
import * as express from '@portcullis/express'
import * as fastify from '@portcullis/fastify'
import * as koa from '@portcullis/koa'
import express5 from 'express'
import express4 from 'express4'
import createFastify from 'fastify'
import Koa from 'koa'
import Koa2 from 'koa2'
import lightMyRequest from 'light-my-request'
import nodeMocks from 'node-mocks-http'
import serverless from 'serverless-http'
import { describe, expect, test } from 'vitest'

import { ada, CHALLENGE, verifier } from './serving.ts'

// Requests that no server has received: serverless adapters and mocks build them, some without `rawHeaders`.

type Headers = Readonly<Record<string, string | string[]>>

interface Answer {
  readonly status: number
  readonly challenge: unknown
  readonly body: string
}

type Call = (headers: Headers) => Promise<Answer>

type Guard = { readonly optional?: boolean }

const answerOf = (status: number, headers: object, body: string): Answer => ({
  status,
  challenge: Reflect.get(headers, 'www-authenticate'),
  body,
})

const subjectOf = (auth: { claims: { sub?: unknown } } | undefined) => ({
  sub: auth?.claims.sub ?? 'nobody',
})

function expressApp(create: () => express5.Express, options: Guard): express5.Express {
  const app = create().set('env', 'test')
  app.use(express.authenticate(verifier, options))
  app.get('/', (req, res) => {
    res.json(subjectOf(express.findAuth(req)))
  })
  return app
}

function koaApp(app: Koa, options: Guard): Koa {
  app.use(koa.authenticate(verifier, options)).use((ctx) => {
    ctx.body = subjectOf(koa.findAuth(ctx))
  })
  return app
}

// What these tests use, both majors have alike, with types of their own.
const create4 = () => express4() as unknown as express5.Express
const createKoa2 = () => new Koa2() as unknown as Koa

const behindServerless =
  (create: (options: Guard) => Parameters<typeof serverless>[0]) =>
  (options: Guard): Call => {
    const handler = serverless(create(options))
    return async (headers) => {
      const event = { httpMethod: 'GET', path: '/', headers, multiValueHeaders: {}, body: null }
      const answer: unknown = await handler(event, {})
      const {
        statusCode,
        headers: sent,
        body,
      } = answer as {
        statusCode: number
        headers: object
        body: string
      }
      return answerOf(statusCode, sent, body)
    }
  }

const injected =
  (create: (options: Guard) => (request: IncomingMessage, response: ServerResponse) => unknown) =>
  (options: Guard): Call => {
    const listener = create(options)
    const dispatch = (request: unknown, response: unknown) =>
      void listener(request as IncomingMessage, response as ServerResponse)
    return async (headers) => {
      const answer = await lightMyRequest(dispatch, { url: '/', headers })
      return answerOf(answer.statusCode, answer.headers, answer.payload)
    }
  }

/** The guard without an application: Express replaces the prototype of a response, and with it what records the body. */
function expressGuard(options: Guard) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    express.authenticate(verifier, options)(request, response, (error) => {
      const { status = 200 } = (error ?? {}) as { status?: number }
      response.statusCode = status
      response.end(error === undefined ? JSON.stringify(subjectOf(express.findAuth(request))) : '')
    })
  }
}

/** The guard without an application. */
function mocked(options: Guard): Call {
  return async (headers) => {
    const request = nodeMocks.createRequest({ headers })
    const response = nodeMocks.createResponse()
    const error = await new Promise((resolve) => {
      express.authenticate(verifier, options)(request, response, resolve)
    })
    const { status = 200 } = (error ?? {}) as { status?: number }
    const body = error === undefined ? JSON.stringify(subjectOf(express.findAuth(request))) : ''
    return answerOf(status, response.getHeaders(), body)
  }
}

async function onLambda(options: Guard): Promise<Call> {
  const app = createFastify()
  await app.register(fastify.authenticate(verifier, options))
  app.get('/', (request) => subjectOf(fastify.findAuth(request)))
  const handler = awsLambda(app)
  return async (headers) => {
    const event = { httpMethod: 'GET', path: '/', headers, requestContext: {} }
    const answer: unknown = await handler(event, {} as never)
    const {
      statusCode,
      headers: sent,
      body,
    } = answer as {
      statusCode: number
      headers: object
      body: string
    }
    return answerOf(statusCode, sent, body)
  }
}

describe.each<[string, (options: Guard) => Call | Promise<Call>]>([
  ['serverless-http with Express 5', behindServerless((by) => expressApp(express5, by))],
  ['serverless-http with Express 4', behindServerless((by) => expressApp(create4, by))],
  ['serverless-http with Koa 3', behindServerless((by) => koaApp(new Koa(), by))],
  ['serverless-http with Koa 2', behindServerless((by) => koaApp(createKoa2(), by))],
  ['@fastify/aws-lambda', onLambda],
  ['light-my-request with the guard of Express', injected(expressGuard)],
  ['light-my-request with Koa 3', injected((by) => koaApp(new Koa(), by).callback())],
  ['light-my-request with Koa 2', injected((by) => koaApp(createKoa2(), by).callback())],
  ['node-mocks-http', mocked],
])('%s', (_name, create) => {
  test.each(['authorization', 'Authorization', 'AUTHORIZATION'])(
    'a token in %s is seen',
    async (name) => {
      for (const options of [{}, { optional: true }]) {
        const call = await create(options)
        const answer = await call({ [name]: ada.authorization })
        expect([answer.status, answer.body]).toEqual([200, '{"sub":"ada"}'])
      }
    },
  )

  test('no token is refused, or anonymous where that is allowed', async () => {
    const strict = await create({})
    expect(await strict({})).toMatchObject({ status: 401, challenge: CHALLENGE })
    const lenient = await create({ optional: true })
    expect(await lenient({})).toMatchObject({ status: 200, body: '{"sub":"nobody"}' })
  })

  test.each([
    ['a bad token', 'Bearer bad', 401],
    ['a malformed token', 'Bearer a b', 401],
    ['two tokens', 'Bearer a, Bearer b', 400],
  ])('%s is refused, also where a token is optional', async (_title, authorization, status) => {
    for (const options of [{}, { optional: true }]) {
      const call = await create(options)
      expect((await call({ authorization })).status).toBe(status)
    }
  })
})
