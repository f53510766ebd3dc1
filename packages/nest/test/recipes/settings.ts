import { Module } from '@nestjs/common'

/** What `ConfigService` of `@nestjs/config` is in an application: values that come from elsewhere. */
export class Settings {
  readonly authUrl: string = 'http://127.0.0.1:1'
  readonly issuer: string = 'https://auth.test'
  readonly audience: string = 'api'
}

@Module({ providers: [Settings], exports: [Settings] })
export class SettingsModule {}
