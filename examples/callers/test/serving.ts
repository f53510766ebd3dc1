import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import { createVerifier, localRevocations, type Verifier } from '@portcullis/core'
import { createTestIssuer, type ManualClock, manualClock } from '@portcullis/testing'

/** A verifier, its issuer, what is revoked for it, and the clock of all. */
export async function guardedBy(audience?: string) {
  const clock: ManualClock = manualClock()
  const issuer = await createTestIssuer({ clock, ...(audience === undefined ? {} : { audience }) })
  const revocations = localRevocations({ clock })
  const options = { ...issuer.verifierOptions, clockTolerance: 0, revocations }
  const verifier: Verifier = createVerifier(options)
  return { clock, issuer, revocations, verifier }
}

export interface Served extends AsyncDisposable {
  /** `127.0.0.1` and the port. */
  readonly host: string
  readonly server: Server
}

/** Serves on a free port until the end of the test. */
export async function serve(api: Server | RequestListener): Promise<Served> {
  const server = typeof api === 'function' ? createServer(api) : api
  if (!server.listening) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }
  const { port } = server.address() as AddressInfo
  return {
    host: `127.0.0.1:${port}`,
    server,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await Promise.resolve()
    },
  }
}

export function portOf(host: string): number {
  return Number(host.split(':')[1])
}
