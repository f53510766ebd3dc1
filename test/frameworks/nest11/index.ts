import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// The major of Nest before the newest, and `@portcullis/nest` with it.

export * as common from '@nestjs/common'
export { NestFactory } from '@nestjs/core'
export { ExpressAdapter } from '@nestjs/platform-express'
export { FastifyAdapter } from '@nestjs/platform-fastify'
export { WsAdapter } from '@nestjs/platform-ws'

const source = fileURLToPath(new URL('../../../packages/nest/src', import.meta.url))
const copy = fileURLToPath(new URL('.source', import.meta.url))

/**
 * The same sources in a folder beside this file. Imports resolve from where a file is, and here that is this major.
 * Several processes do this at once, so each file is there as a whole or not at all.
 */
mkdirSync(copy, { recursive: true })
for (const name of readdirSync(source)) {
  const temporary = join(copy, `${name}.${process.pid}`)
  writeFileSync(temporary, readFileSync(join(source, name)))
  renameSync(temporary, join(copy, name))
}

export const adapter = (await import(join(copy, 'index.ts'))) as typeof import('@portcullis/nest')

export const routes = (await import(
  join(copy, 'routes.ts')
)) as typeof import('@portcullis/nest/routes')
