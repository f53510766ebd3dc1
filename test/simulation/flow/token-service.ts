import { createTestIssuer, type Outage, tokenService } from '@portcullis/testing'

import { serve } from './processes.ts'

const issuer = await createTestIssuer()
const logins = {
  demo: { password: 'demo' },
  brief: { password: 'brief', lifetime: 2 },
}
const service = await tokenService(issuer, { logins }).listen()
let outage: Outage | undefined

serve({
  url: () => service.authUrl,
  kid: () => issuer.publicJwk.kid,
  async rotate() {
    await issuer.rotate()
    return issuer.publicJwk.kid
  },
  fail(status: number) {
    outage = issuer.outage(status)
  },
  recover() {
    outage?.restore()
  },
  logins: (loginId: string) =>
    issuer.requests().filter((request) => request.loginId === loginId).length,
})
