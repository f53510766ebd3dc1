import { once } from 'node:events'
import { connect } from 'node:net'

import {
  type ArgumentsHost,
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  HttpException,
  Options,
  Sse,
} from '@nestjs/common'
import { BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core'
import { AuthError, createVerifier, remoteKeys, scope } from '@portcullis/core'
import request from 'supertest'
import { describe, expect, test } from 'vitest'

import {
  AuthException,
  authErrorOf,
  PortcullisGuard,
  PortcullisModule,
  Requires,
} from '../src/index.ts'
import { good, issuer, platforms, run, verifier } from './app.ts'

@Controller('things')
class Things {
  @Requires(scope('write'))
  @Get()
  list(): string {
    return 'things'
  }

  @Options('handled')
  options(): string {
    return 'never'
  }

  @Sse('events')
  events(): never[] {
    return []
  }
}

const guarded = { imports: [PortcullisModule.forRoot({ verifier })], controllers: [Things] }

describe.each(platforms)('on %s', (platform) => {
  test('a refusal without a filter: status and message in the body of Nest, and nothing is logged', async () => {
    await using app = await run(guarded, { platform })
    const missing = await request(app.url).get('/things')
    expect([missing.status, missing.body]).toEqual([
      401,
      { statusCode: 401, message: 'An access token is required' },
    ])
    const lacking = await request(app.url).get('/things').set(good)
    expect([lacking.status, lacking.body]).toEqual([
      403,
      { statusCode: 403, message: 'The access token lacks a required scope' },
    ])
    expect(app.logged).toEqual([])
  })

  test('an outage without a filter: 503 with Retry-After, and nothing is logged', async () => {
    const keys = remoteKeys('https://auth.test/keys', {
      fetch: async () => await Promise.reject(new Error('down')),
    })
    const unable = createVerifier({ ...issuer.verifierOptions, keys })
    await using app = await run(
      { ...guarded, imports: [PortcullisModule.forRoot({ verifier: unable })] },
      { platform },
    )
    const answer = await request(app.url).get('/things').set(good)
    expect([answer.status, answer.body]).toEqual([
      503,
      { statusCode: 503, message: 'Access tokens cannot be verified at the moment' },
    ])
    expect(answer.headers['retry-after']).toMatch(/^\d+$/)
    expect(app.logged).toEqual([])
  })

  test('the filter of the documentation, which knows HttpException alone, keeps status and challenge', async () => {
    @Catch()
    class Everything implements ExceptionFilter {
      readonly host: HttpAdapterHost
      constructor(host: HttpAdapterHost) {
        this.host = host
      }
      catch(exception: unknown, host: ArgumentsHost): void {
        const status = exception instanceof HttpException ? exception.getStatus() : 500
        const response: unknown = host.switchToHttp().getResponse()
        this.host.httpAdapter.reply(response, { mine: status }, status)
      }
    }
    await using app = await run(guarded, {
      platform,
      prepare: (nest) => nest.useGlobalFilters(new Everything(nest.get(HttpAdapterHost))),
    })
    const answer = await request(app.url).get('/things')
    expect([answer.status, answer.body]).toEqual([401, { mine: 401 }])
    expect(answer.headers).toMatchObject({
      'www-authenticate': 'Bearer realm="api"',
      'cache-control': 'no-store',
    })
  })

  test('filters for AuthException, HttpException and everything see the refusal', async () => {
    for (const caught of [[AuthException], [HttpException], []]) {
      const seen: unknown[] = []

      @Catch(...caught)
      class Seeing extends BaseExceptionFilter {
        override catch(exception: unknown, host: ArgumentsHost): void {
          seen.push(authErrorOf(exception)?.reason, exception instanceof AuthException)
          super.catch(exception, host)
        }
      }
      await using app = await run(guarded, {
        platform,
        prepare: (nest) => nest.useGlobalFilters(new Seeing(nest.get(HttpAdapterHost).httpAdapter)),
      })
      expect((await request(app.url).get('/things').set(good)).status).toBe(403)
      expect(seen).toEqual(['scope', true])
      expect(app.logged).toEqual([])
    }
  })

  test('where the guard answers itself, nothing comes after it, and closing does not wait for it', async () => {
    const seen: string[] = []
    const seeing = (name: string) => ({ canActivate: () => seen.push(name) > 0 })
    const answering = new PortcullisGuard({ verifier, respond: 'problem' })
    const interceptor = {
      intercept(_context: unknown, next: { handle: () => never }) {
        seen.push('interceptor')
        return next.handle()
      },
    }
    {
      await using app = await run(
        { controllers: [Things] },
        {
          platform,
          prepare(nest) {
            nest.useGlobalGuards(seeing('before'), answering, seeing('after'))
            nest.useGlobalInterceptors(interceptor)
          },
        },
      )
      const answer = await request(app.url).get('/things')
      expect([answer.status, answer.type]).toEqual([401, 'application/problem+json'])
      const { port, hostname } = new URL(app.url)
      const client = connect(Number(port), hostname)
      client.write('GET /things HTTP/1.1\r\nHost: things.test\r\n\r\n')
      client.destroySoon() // gone before there is an answer
      await once(client, 'close')
      expect((await request(app.url).get('/things')).status).toBe(401)
      expect(app.logged).toEqual([])
    }
    expect(new Set(seen)).toEqual(new Set(['before']))
  })

  test('server-sent events are refused before the first one', async () => {
    await using app = await run(guarded, { platform })
    const answer = await request(app.url).get('/things/events')
    expect(answer.status).toBe(401)
    expect(answer.headers['content-type']).toMatch(/^application\/json/)
  })
})

test('an exception says no more than its refusal when it is printed', () => {
  const error = new AuthError('invalid_token', 'signature', { cause: new Error('canary') })
  const exception = new AuthException(error)
  expect(authErrorOf(exception)).toBe(error)
  expect(authErrorOf(error)).toBe(error)
  expect(authErrorOf(new HttpException('x', 401, { cause: error }))).toBeUndefined()
  expect(JSON.stringify(exception)).not.toContain('canary')
})

test('an exception costs no stack, and leaves the stacks of other errors as they are', () => {
  const limit = Error.stackTraceLimit
  const exception = new AuthException(new AuthError('invalid_token', 'signature'))
  expect(exception.stack).toBe('AuthException: The access token is not valid')
  expect(Error.stackTraceLimit).toBe(limit)
  expect(new Error('other').stack).toContain('exceptions.test.ts')
})
