import {
  type INestApplication,
  type LoggerService,
  Module,
  type ModuleMetadata,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { createVerifier } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import request from 'supertest'

import { PortcullisGuard } from '../src/index.ts'

export const issuer = await createTestIssuer()
export const verifier = createVerifier(issuer.verifierOptions)
export const good = await issuer.bearer({ claims: { sub: 'ada', scope: 'read' } })
const writer = await issuer.bearer({ claims: { sub: 'ada', scope: 'read write' } })

export interface Running extends AsyncDisposable {
  readonly app: INestApplication
  readonly url: string
  /** What Nest has logged as warnings and errors. */
  readonly logged: readonly unknown[]
}

export const platforms = ['Express', 'Fastify'] as const

export interface RunOptions {
  platform?: (typeof platforms)[number]
  prepare?: (app: INestApplication) => unknown
}

/** Runs an application on a port. */
export async function run(
  metadata: ModuleMetadata,
  { platform = 'Express', prepare }: RunOptions = {},
): Promise<Running> {
  class Root {}
  Module(metadata)(Root)
  const logged: unknown[] = []
  const log = (message: unknown): void => {
    logged.push(message)
  }
  const logger: LoggerService = { log() {}, warn: log, error: log, fatal: log }
  const server = platform === 'Express' ? new ExpressAdapter() : new FastifyAdapter()
  const app = await NestFactory.create(Root, server as never, { logger, abortOnError: false })
  await prepare?.(app)
  await app.listen(0, '127.0.0.1')
  return {
    app,
    url: await app.getUrl(),
    logged,
    async [Symbol.asyncDispose]() {
      await app.close()
    },
  }
}

/** One guard for everything. */
export function guarded(options: object = {}): Required<Pick<RunOptions, 'prepare'>> {
  return {
    prepare: (app) => app.useGlobalGuards(new PortcullisGuard({ verifier, ...options })),
  }
}

/** The statuses without a token, with one that may read, and with one that may write. */
export async function statuses(url: string, path: string): Promise<number[]> {
  const seen: number[] = []
  for (const headers of [{}, good, writer]) {
    seen.push((await request(url).get(path).set(headers)).status)
  }
  return seen
}
