import { express } from './express.ts'
import { fastify } from './fastify.ts'
import type { Adapter, Framework } from './framework.ts'
import { koa } from './koa.ts'

/** Every package that guards the routes of a framework. `test/package.test.ts` fails if one is missing. */
export const adapters: readonly Adapter[] = [express, koa, fastify]

/** What every suite runs over: all majors of all adapters. */
export const frameworks: readonly Framework[] = adapters.flatMap((adapter) => adapter.frameworks)
