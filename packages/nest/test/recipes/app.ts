import { Controller, Get, Module } from '@nestjs/common'
import { type Auth, createVerifier, remoteKeys } from '@portcullis/core'

import { CurrentAuth, PortcullisModule } from '../../src/index.ts'
import { Settings, SettingsModule } from './settings.ts'

@Controller('places')
class Places {
  @Get()
  list(): readonly string[] {
    return ['harbour']
  }

  @Get('mine')
  mine(@CurrentAuth() { claims }: Auth): unknown {
    return { of: claims.sub }
  }
}

@Module({
  imports: [
    // #region async
    PortcullisModule.forRootAsync({
      imports: [SettingsModule],
      inject: [Settings],
      useFactory: ({ authUrl, issuer, audience }: Settings) => {
        const keys = remoteKeys(`${authUrl}/tokenservice/pubkey.json`)
        return { verifier: createVerifier({ keys, issuer, audience }) }
      },
    }),
    // #endregion
  ],
  controllers: [Places],
})
export class AppModule {}
