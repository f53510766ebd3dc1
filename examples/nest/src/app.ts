import { Body, Controller, Get, HttpCode, Module, Post } from '@nestjs/common'
import { type Auth, createVerifier, remoteKeys, scope } from '@portcullis/core'
import { CurrentAuth, PortcullisModule, Public, Requires } from '@portcullis/nest'

const { AUTH_URL = 'http://127.0.0.1:4010' } = process.env

const verifier = createVerifier({
  keys: remoteKeys(`${AUTH_URL}/tokenservice/pubkey.json`),
  issuer: null, // the service documents no issuer
  audience: null, // and no audience
  algorithms: ['RS512'], // and signs with RS512 alone
})

@Public()
@Controller('health')
class Health {
  @Get()
  status(): unknown {
    return { status: 'ok' }
  }
}

@Requires(scope('locations:write'))
@Controller('v1/clientLocations')
class ClientLocations {
  @Post()
  @HttpCode(200)
  save(@CurrentAuth() { claims }: Auth, @Body() location: unknown): unknown {
    return { savedBy: claims.sub, location }
  }
}

@Module({
  imports: [PortcullisModule.forRoot({ verifier, respond: 'problem' })],
  controllers: [Health, ClientLocations],
})
export class AppModule {}
