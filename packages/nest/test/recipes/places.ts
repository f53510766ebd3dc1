import type { INestApplication } from '@nestjs/common'
import { Test } from '@nestjs/testing'

import { PortcullisGuard } from '../../src/index.ts'
import { AppModule } from './app.ts'

export async function appWithoutTokens(): Promise<INestApplication> {
  const testing = Test.createTestingModule({ imports: [AppModule] })
    .overrideProvider(PortcullisGuard) // `overrideGuard` does nothing for a global guard
    .useValue({ canActivate: () => true })
  return (await testing.compile()).createNestApplication()
}
