import { subscribe, unsubscribe } from 'node:diagnostics_channel'

import { createTestIssuer } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { checkGuardOptions } from '../../src/request/guard-options.ts'
import { authenticateRequest } from '../../src/request/http.ts'
import { presentRefusal } from '../../src/request/refused-request.ts'
import { createVerifier } from '../../src/verifier/create-verifier.ts'

test('the channel has each refusal of a guard, also without a token; not other errors', async () => {
  const { verifierOptions } = await createTestIssuer()
  const verifier = createVerifier(verifierOptions)
  const options = checkGuardOptions(verifier, {}, 'express')
  const request = { headers: {} }
  const seen: unknown[] = []
  const listen = (message: unknown) => seen.push(message)
  subscribe('portcullis:refusal', listen)
  await expect(authenticateRequest(verifier, request, options, request)).rejects.toThrow('required')
  presentRefusal(new Error('a bug'), request, options, {})
  unsubscribe('portcullis:refusal', listen)
  expect(seen).toEqual([{ framework: 'express', code: 'missing_token', reason: 'missing_header' }])
})
