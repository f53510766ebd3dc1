import type { Server } from 'node:http'

import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { type Auth, scope } from '@portcullis/core'
import { CurrentAuth, PortcullisModule, Requires } from '@portcullis/nest'
import type { Request } from 'express'

import type { Guarded } from './guarded.js'

@Controller()
class Places {
  @Get()
  @Requires(scope('read'))
  list(@CurrentAuth() auth: Auth): string {
    return JSON.stringify(auth.claims.sub)
  }
}

export const guarded: Guarded = async (verifier, onRefusal) => {
  const guard = PortcullisModule.forRoot({
    verifier,
    onRefusal: (error, request: Request) => {
      onRefusal(error.reason, request.path)
    },
  })

  @Module({ imports: [guard], controllers: [Places] })
  class Root {}

  const app = await NestFactory.create(Root, { logger: false })
  await app.listen(0, '127.0.0.1')
  return app.getHttpServer() as Server
}
