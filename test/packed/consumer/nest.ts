import type { IncomingMessage } from 'node:http'

import { createTokenClient } from '@portcullis/client'
import {
  type Auth,
  AuthError,
  createVerifier,
  type Requirement,
  scope,
  type Verifier,
} from '@portcullis/core'
import * as express from '@portcullis/express'
import * as fastify from '@portcullis/fastify'
import * as hono from '@portcullis/hono'
import * as koa from '@portcullis/koa'
import { createTestIssuer } from '@portcullis/testing'

// What a class of a NestJS application may hold, with the settings of its template: they write the types of decorated
// members into the program.

@Injectable()
export class TokenGuard {
  constructor(
    private readonly verifier: Verifier,
    private readonly requirement: Requirement,
  ) {}

  @Logged
  async canActivate(request: IncomingMessage): Promise<Auth> {
    if (this.middleware().some((guard) => typeof guard !== 'function')) throw new TypeError()
    return await this.verifier.verify(request.headers.authorization?.slice('Bearer '.length) ?? '')
  }

  private middleware(): unknown[] {
    const guards = [express, koa, fastify, hono].map(({ authenticate }) =>
      authenticate(this.verifier),
    )
    return [...guards, express.authorize(this.requirement)]
  }
}

async function main(): Promise<void> {
  const issuer = await createTestIssuer()
  const client = createTokenClient({ ...issuer.clientOptions, origins: [] })
  const guard = new TokenGuard(createVerifier(issuer.verifierOptions), scope('read'))
  const headers = { authorization: `Bearer ${await client.get()}` }
  const auth = await guard.canActivate({ headers } as IncomingMessage)
  if (auth.claims.exp === undefined) throw new Error('the token is not accepted')
  const error: unknown = await guard
    .canActivate({ headers: {} } as IncomingMessage)
    .catch((reason: unknown) => reason)
  if (!(error instanceof AuthError)) throw new Error('no token is accepted')
  await client.close()
}

function Injectable(): ClassDecorator {
  return () => undefined
}

function Logged(
  _target: object,
  _name: string,
  descriptor: PropertyDescriptor,
): PropertyDescriptor {
  return descriptor
}

void main()
