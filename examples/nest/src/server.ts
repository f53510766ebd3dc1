import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

import { NestFactory } from '@nestjs/core'
import { transformSync } from 'rolldown/utils'

// `app.ts` is the example. Node cannot run decorators, so it is compiled as it is loaded; Nest's command line compiles it
// beforehand.

registerHooks({
  load(url, context, next) {
    if (url !== new URL('app.ts', import.meta.url).href) return next(url, context)
    const path = fileURLToPath(url)
    const { code } = transformSync(path, readFileSync(path, 'utf8'), {
      decorator: { legacy: true },
    })
    return { format: 'module', source: code, shortCircuit: true }
  },
})

const { PORT = '3000' } = process.env
const { AppModule } = await import('./app.ts')
const app = await NestFactory.create(AppModule, { logger: ['fatal', 'error', 'warn'] })

export const server = app.getHttpServer() as Server
try {
  await app.listen(Number(PORT), '127.0.0.1')
  console.log(`api            ${await app.getUrl()}`)
} catch (error) {
  console.error(`api: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(1)
}
