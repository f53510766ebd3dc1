import { Controller, Get, Module, type ModuleMetadata, UseGuards } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { type Auth, createVerifier, localKeys, scope } from '@portcullis/core'
import { CurrentAuth, PortcullisGuard, PortcullisModule, Requires } from '@portcullis/nest'
import { createTestIssuer } from '@portcullis/testing'
import { expect, test } from 'vitest'

// The usual mistakes with decorators, and what Nest logs of each.

const issuer = await createTestIssuer()
const verifier = createVerifier({
  keys: localKeys(issuer.publicJwk),
  issuer: null,
  audience: null,
})

/** All that is logged for one request, or because the application does not start. */
async function logOf(metadata: ModuleMetadata): Promise<string> {
  @Module(metadata)
  class Root {}

  const logged: unknown[] = []
  const log = (...words: unknown[]) => void logged.push(...words)
  const logger = { log() {}, warn: log, error: log, fatal: log }
  try {
    const app = await NestFactory.create(Root, { logger, abortOnError: false })
    await app.listen(0, '127.0.0.1')
    const response = await fetch(await app.getUrl(), { headers: await issuer.bearer() })
    log(`answer: ${response.status}`)
    await app.close()
  } catch (error) {
    log(error)
  }
  return logged.map(String).join('\n')
}

@Controller()
class Places {
  @Get()
  read(@CurrentAuth() auth: Auth): unknown {
    return auth.claims
  }
}

test('the module is forgotten: @CurrentAuth names the guard', async () => {
  expect(await logOf({ controllers: [Places] })).toMatch(
    /no guard has seen the request.*PortcullisGuard must come before[^]*answer: 500/,
  )
})

test('the module is forgotten, and @Requires stands alone', async () => {
  @Controller()
  class Alone {
    @Requires(scope('read'))
    @Get()
    read(): unknown {
      return {}
    }
  }
  expect(await logOf({ controllers: [Alone] })).toMatch(
    /@Requires\(\): no guard has seen the request\. There must be a PortcullisGuard before it/,
  )
})

test('@UseGuards in a module that does not import PortcullisModule', async () => {
  @Controller()
  @UseGuards(PortcullisGuard)
  class Guarded {
    @Get()
    read(): unknown {
      return {}
    }
  }
  expect(await logOf({ controllers: [Guarded] })).toMatch(/PortcullisGuard.*PortcullisModule/s)
})

test('@UseGuards above @Requires, which Nest runs from the bottom up', async () => {
  @Controller()
  class Upside {
    @UseGuards(PortcullisGuard)
    @Requires(scope('read'))
    @Get()
    read(): unknown {
      return {}
    }
  }
  const imports = [PortcullisModule.forRoot({ verifier, global: false })]
  expect(await logOf({ imports, controllers: [Upside] })).toContain(
    'so write @UseGuards() below @Requires()',
  )
})
