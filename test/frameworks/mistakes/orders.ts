import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'

import { createVerifier, localKeys } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'

import { adapterOf } from '../contract/frameworks/adapter-of.ts'
import type { Listener } from '../contract/frameworks/framework.ts'

// A program that puts guards of one framework where they do nothing, and prints what a developer reads then.

const issuer = await createTestIssuer()
const keys = localKeys(issuer.publicJwk)
const verifier = createVerifier({ keys, issuer: null, audience: null })

async function show(listener: Listener): Promise<void> {
  const server = createServer((request, response) => void listener(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port
  const response = await fetch(`http://127.0.0.1:${port}/`, { headers: await issuer.bearer() })
  console.error(`answer: ${response.status} ${await response.text()}`)
  await setImmediate() // some frameworks print after the answer
  server.close()
}

const { functions } = await adapterOf(process.argv[2] ?? '')
for (const [name, make] of Object.entries(functions?.mistakes ?? {})) {
  console.error(`# ${name}`)
  try {
    await show(await make(verifier))
  } catch (error) {
    console.error(error)
  }
}
