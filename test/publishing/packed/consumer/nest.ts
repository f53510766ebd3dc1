import { deepEqual } from 'node:assert/strict'
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'

import { Controller, Get, Inject, Injectable, Module, Optional, Param } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { createTokenClient, type TokenClient } from '@portcullis/client'
import {
  type Auth,
  type AuthError,
  createVerifier,
  type Requirement,
  scope,
  type Verifier,
} from '@portcullis/core'
import * as express from '@portcullis/express'
import * as fastify from '@portcullis/fastify'
import * as hono from '@portcullis/hono'
import * as koa from '@portcullis/koa'
import { CurrentAuth, PortcullisModule, Public, Requires } from '@portcullis/nest'
import type { RedisRevocations } from '@portcullis/redis'
import { createTestIssuer, tokenService } from '@portcullis/testing'

// An application of NestJS with decorators, as its template compiles it: the types of decorated members are written into
// the program. What our packages export may be there as well.

@Injectable()
export class Guards {
  private readonly verifier: Verifier

  constructor(
    @Inject('VERIFIER') verifier: Verifier,
    @Inject('TOKENS') readonly tokens: TokenClient,
    @Optional() @Inject('REVOCATIONS') readonly revocations?: RedisRevocations,
  ) {
    this.verifier = verifier
  }

  @Logged
  all(requirement: Requirement): unknown[] {
    return [
      express.authenticate(this.verifier),
      koa.authenticate(this.verifier),
      fastify.authenticate(this.verifier),
      hono.authenticate(this.verifier),
      express.authorize(requirement),
    ]
  }
}

@Controller('places')
@Requires(scope('read'))
export class Places {
  constructor(private readonly guards: Guards) {}

  @Get()
  list(@CurrentAuth() auth: Auth): string {
    return `places of ${String(auth.claims.sub)}`
  }

  @Get('guards/:name')
  @Requires(scope('write'))
  count(@Param('name') name: string): number {
    return this.guards.all(scope(name)).length
  }
}

@Controller()
@Public()
export class Status {
  @Get('status')
  status(): string {
    return 'up'
  }
}

async function main(): Promise<void> {
  const issuer = await createTestIssuer()
  const service = await tokenService(issuer, {
    logins: {
      ada: { password: 'secret', claims: { scope: 'read' } },
      bob: { password: 'secret', claims: { scope: 'read write' } },
    },
  }).listen()
  const verifier = createVerifier(issuer.verifierOptions)
  const tokensOf = (loginId: string, ...origins: string[]) =>
    createTokenClient({ authUrl: service.authUrl, loginId, password: 'secret', origins })
  const refused: string[] = []
  const onRefusal = ({ reason }: AuthError) => refused.push(reason)

  @Module({
    imports: [PortcullisModule.forRoot({ verifier, onRefusal })],
    controllers: [Places, Status],
    providers: [
      Guards,
      { provide: 'VERIFIER', useValue: verifier },
      { provide: 'TOKENS', useValue: tokensOf('ada') },
    ],
  })
  class Root {}

  const app = await NestFactory.create(Root, { logger: false })
  await app.listen(0, '127.0.0.1')
  const { port } = (app.getHttpServer() as Server).address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  const [ada, bob] = [tokensOf('ada', origin), tokensOf('bob', origin)]
  const seen: string[] = []
  for (const ask of [fetch, ada.fetch, bob.fetch]) {
    for (const path of ['/places', '/places/guards/read', '/status']) {
      const response = await ask(origin + path)
      const body = await response.text()
      seen.push(response.ok ? `${response.status} ${body}` : String(response.status))
    }
  }
  deepEqual(seen, [
    ...['401', '401', '200 up'],
    ...['200 places of ada', '403', '200 up'],
    ...['200 places of bob', '200 5', '200 up'],
  ])
  deepEqual(refused, ['missing_header', 'missing_header', 'scope'])
  await Promise.all([ada.close(), bob.close(), app.close(), service.close()])
  // In an ES module there is no `require`, and in a CommonJS one no `import.meta`.
  const { version } = createRequire(process.argv[1] ?? '')('@nestjs/core/package.json') as {
    version: string
  }
  console.log(version)
}

function Logged(
  _target: object,
  _name: string,
  descriptor: PropertyDescriptor,
): PropertyDescriptor {
  return descriptor
}

void main()
