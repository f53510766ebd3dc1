import { express } from './express.ts'
import { fastify } from './fastify.ts'
import type { Adapter, Framework } from './framework.ts'
import { hono } from './hono.ts'
import { koa } from './koa.ts'
import { nest } from './nest.ts'
import { request } from './request.ts'

/** Every package that guards the routes of a framework. `test/publishing/package.test.ts` fails if one is missing. */
export const adapters: readonly Adapter[] = [express, koa, fastify, hono, nest]

/** What every suite runs over: all majors of all adapters, and core without any. */
export const frameworks: readonly Framework[] = [
  ...adapters.flatMap((adapter) => adapter.frameworks),
  request,
]
