import { Controller, Get, type INestApplication, Module, Post } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import * as express from '@portcullis/express'
import { PortcullisModule, Public } from '@portcullis/nest'
import createExpress from 'express'
import helmet from 'helmet'
import { describe, expect, test } from 'vitest'

import {
  ada,
  brokenJson,
  CHALLENGE,
  expectPreflightAndRefusal,
  origin,
  verifier,
} from './serving.ts'

// Among middleware that nobody here has written: in front of the guards, over real connections.

@Controller('places')
class Places {
  @Get()
  list(): unknown {
    return ['here']
  }

  @Post()
  save(): unknown {
    return {}
  }

  @Public()
  @Get('open')
  open(): unknown {
    return ['open']
  }
}

@Module({ imports: [PortcullisModule.forRoot({ verifier })], controllers: [Places] })
class Root {}

async function serving(
  platform: string,
  prepare: (app: INestApplication) => unknown,
  examine: (url: string) => Promise<void>,
): Promise<void> {
  const adapter = platform === 'Express' ? new ExpressAdapter() : new FastifyAdapter()
  const app = await NestFactory.create(Root, adapter as never, { logger: false })
  await prepare(app)
  await app.listen(0, '127.0.0.1')
  try {
    await examine(await app.getUrl())
  } finally {
    await app.close()
  }
}

describe.each(['Express', 'Fastify'])('Nest on %s', (platform) => {
  test('helmet in front: its headers are on a refusal as well', async () => {
    await serving(
      platform,
      (app) => app.use(helmet()),
      async (url) => {
        const refused = await fetch(`${url}/places`)
        expect(refused.status).toBe(401)
        expect(refused.headers.get('www-authenticate')).toBe(CHALLENGE)
        expect(refused.headers.get('x-content-type-options')).toBe('nosniff')
        expect((await fetch(`${url}/places`, { headers: ada })).status).toBe(200)
      },
    )
  })

  test('the CORS of Nest answers preflights, and a web page may read a refusal', async () => {
    await serving(
      platform,
      (app) => {
        app.enableCors({ origin, exposedHeaders: ['WWW-Authenticate', 'Retry-After'] })
      },
      async (url) => {
        await expectPreflightAndRefusal(`${url}/places`)
      },
    )
  })

  test('a body is read before the guard: a broken one is 400, with or without a token', async () => {
    await serving(
      platform,
      () => undefined,
      async (url) => {
        expect((await fetch(`${url}/places`, brokenJson)).status).toBe(400)
      },
    )
  })
})

test('an Express application that is mounted is open, unless it has a guard of its own', async () => {
  const open = createExpress().get('/', (_request, response) => {
    response.json(['open'])
  })
  const guarded = createExpress()
    .use(express.authenticate(verifier, { respond: 'problem' }))
    .use(open)
  await serving(
    'Express',
    (app) => app.use('/open', open).use('/guarded', guarded),
    async (url) => {
      expect((await fetch(`${url}/open`)).status).toBe(200)
      expect((await fetch(`${url}/guarded`)).status).toBe(401)
      expect((await fetch(`${url}/guarded`, { headers: ada })).status).toBe(200)
    },
  )
})
