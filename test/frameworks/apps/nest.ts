import { Catch, Controller, Get, Module, Post, UseGuards } from '@nestjs/common'
import type { ArgumentsHost, DynamicModule, ExceptionFilter } from '@nestjs/common'
import { APP_FILTER, NestFactory } from '@nestjs/core'
import type { NestExpressApplication } from '@nestjs/platform-express'
import { OAuthError, refusalOf } from '@portcullis/client/oauth'
import { type Auth, createVerifier, scope, type Verifier } from '@portcullis/core'
import { AuthException, CurrentAuth, PortcullisGuard } from '@portcullis/nest'
import { authErrorOf, PortcullisModule, Public, Requires } from '@portcullis/nest'
import { describeRoutes } from '@portcullis/nest/routes'
import { assertGuarded } from '@portcullis/testing'
import type express from 'express'
import { z } from 'zod'

import {
  type Applications,
  callOnwards,
  type Configuration,
  log as logger,
} from './configuration.ts'

// #region filter
@Catch(AuthException)
class RefusalFilter implements ExceptionFilter {
  catch(exception: AuthException, host: ArgumentsHost): void {
    const { status, code } = authErrorOf(exception)
    host.switchToHttp().getResponse<express.Response>().status(status).json({ code })
  }
}
// #endregion

@Catch(OAuthError)
class OnwardsFilter implements ExceptionFilter {
  catch(error: OAuthError, host: ArgumentsHost): void {
    const { status, headers, body } = refusalOf(error)
    host.switchToHttp().getResponse<express.Response>().status(status).set(headers).send(body)
  }
}

@Controller()
class Onwards {
  @Get('refused')
  async refused(): Promise<string> {
    return await callOnwards('refuses')
  }

  @Get('down')
  async down(): Promise<string> {
    return await callOnwards('is down')
  }
}

@Controller('hello')
@UseGuards(PortcullisGuard)
class Hello {
  @Get()
  greet(@CurrentAuth({ optional: true }) auth: Auth | undefined): unknown {
    return { hello: auth?.claims.sub ?? 'stranger' }
  }
}

@Controller('places')
@UseGuards(PortcullisGuard)
class Places {
  @Get()
  read(@CurrentAuth() auth: Auth): unknown {
    return { readBy: auth.claims.sub }
  }

  @Post()
  @Requires(scope('places:write'))
  save(@CurrentAuth() auth: Auth): unknown {
    return { savedBy: auth.claims.sub }
  }
}

@Module({ controllers: [Hello] })
class HelloModule {}

@Module({ controllers: [Places] })
class PlacesModule {}

@Module({
  controllers: [Onwards],
  providers: [
    { provide: APP_FILTER, useClass: RefusalFilter },
    { provide: APP_FILTER, useClass: OnwardsFilter },
  ],
})
class AppModule {
  static forVerifier(verifier: Verifier): DynamicModule {
    const optional = PortcullisModule.forRoot({ verifier, global: false, optional: true })
    const required = PortcullisModule.forRoot({
      verifier,
      onRefusal: ({ code, reason, detail }, request: express.Request) => {
        logger.warn({ ip: request.ip, code, reason, detail }, 'refused')
      },
      global: false,
    })
    return {
      module: AppModule,
      imports: [
        { module: HelloModule, imports: [optional] },
        { module: PlacesModule, imports: [required] },
      ],
    }
  }
}

function typedModule({ keys, issuer, audience }: Configuration): DynamicModule {
  const verifier = createVerifier({
    keys,
    issuer,
    audience,
    schema: z.object({ role: z.string() }),
  })
  // #region user
  type User = Awaited<ReturnType<typeof verifier.verify>>
  // #endregion

  @Controller('role')
  @UseGuards(PortcullisGuard)
  class Roles {
    @Get()
    // #region role
    role(@CurrentAuth({ verifier }) { claims }: User) {
      return claims.role
    }
    // #endregion
  }

  @Module({ imports: [PortcullisModule.forRoot({ verifier })], controllers: [Roles] })
  class TypedModule {}

  return { module: TypedModule }
}

/** What the README says of it in a sentence. */
const CORS = {
  origin: 'https://web.example.com',
  exposedHeaders: ['WWW-Authenticate', 'Retry-After'],
}

async function checkRoutes(verifier: Verifier, health: string): Promise<void> {
  @Controller(health)
  class Health {
    @Get()
    @Public()
    read() {
      return {}
    }
  }

  @Controller('places')
  class Sights {
    @Get()
    read(@CurrentAuth() { claims }: Auth) {
      return { readBy: claims.sub }
    }
  }

  @Module({ imports: [PortcullisModule.forRoot({ verifier })], controllers: [Health, Sights] })
  class ListedModule {}

  const app = await NestFactory.create(ListedModule, { logger: false })
  // #region routes
  const list = await describeRoutes(app) // in the place of app.init()
  assertGuarded(list, { open: ['GET /health'], before: ['jsonParser', 'urlencodedParser'] })
  // #endregion
  await app.close()
}

export const applications: Applications = {
  listed: checkRoutes,
  plain: async (verifier) => await listenerOf(AppModule.forVerifier(verifier)),
  typed: async (configuration) => await listenerOf(typedModule(configuration), CORS),
}

async function listenerOf(module: DynamicModule, cors?: typeof CORS): Promise<express.Express> {
  const app = await NestFactory.create<NestExpressApplication>(module, {
    logger: false,
    ...(cors && { cors }),
  })
  await app.init()
  return app.getHttpAdapter().getInstance()
}
