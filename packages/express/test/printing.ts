import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'

import { createVerifier, localKeys } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import express5 from 'express'
import express4 from 'express4'

import { authenticate } from '../src/index.ts'

// A program, since what Express prints is the point. For each scene it writes a line to stderr, before what Express prints
// there, and the body that a client without a token gets to stdout.

const issuer = await createTestIssuer()
const verifier = createVerifier({ keys: localKeys(issuer.publicJwk), issuer: null, audience: null })
const create = {
  5: express5,
  // What this program uses, both majors have alike, with types of their own.
  4: express4 as unknown as typeof express5,
}

for (const major of [5, 4] as const) {
  for (const mode of ['unset', 'development', 'production', 'test']) {
    for (const respond of ['forward', 'problem'] as const) {
      const app = create[major]()
      if (mode !== 'unset') app.set('env', mode)
      app.use(authenticate(verifier, { respond }))
      const server = app.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo // it listens on a port
      const scene = `--- ${major} ${mode} ${respond}\n`
      for (const stream of [process.stdout, process.stderr]) stream.write(scene)
      const response = await fetch(`http://127.0.0.1:${port}`)
      process.stdout.write(await response.text())
      // Express prints an error in a task of its own, which it queues before the answer is sent.
      await setImmediate()
      server.close()
      server.closeAllConnections()
    }
  }
}
