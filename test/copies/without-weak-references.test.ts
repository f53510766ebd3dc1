import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

const PROGRAM = `
  import { authenticateRequest, createVerifier, getAuth, localKeys } from '@portcullis/core'
  import { createTestIssuer } from '@portcullis/testing'
  const issuer = await createTestIssuer({ algorithm: 'ES256' })
  const verifier = createVerifier({ keys: localKeys(issuer.publicJwk), issuer: null, audience: null })
  const headers = { authorization: 'Bearer ' + (await issuer.token({ claims: { sub: 'ada' } })) }
  for (const time of [1, 2]) {
    const request = new Request('http://api.test/', { headers })
    await authenticateRequest(verifier, request)
    console.log(time, getAuth(request).claims.sub)
  }
`

test('a platform without WeakRef, such as Cloudflare Workers before May 2025, serves requests', async () => {
  const preload = 'data:text/javascript,delete globalThis.WeakRef'
  const flags = ['--conditions=@portcullis/source', '--disable-warning=ExperimentalWarning']
  const args = [...flags, '--import', preload, '--input-type=module', '--eval', PROGRAM]
  const cwd = import.meta.dirname
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd })
  expect(stdout).toBe('1 ada\n2 ada\n')
})
