import { Test } from '@nestjs/testing'
import { PortcullisGuard } from '@portcullis/nest'
import { stubVerifier } from '@portcullis/testing'

import { AppModule } from './app.ts'

// #region app
/** It takes any token for one of Ada's. */
export async function appOfAda() {
  const guard = new PortcullisGuard({ verifier: stubVerifier({ claims: { sub: 'ada' } }) })
  const testing = Test.createTestingModule({ imports: [AppModule] })
    .overrideProvider(PortcullisGuard) // `overrideGuard` does nothing for a global guard
    .useValue(guard)
  return (await testing.compile()).createNestApplication()
}
// #endregion
