import diagnostics from 'node:diagnostics_channel'

import { createTestIssuer, manualClock } from '@portcullis/testing'
import { expect, test } from 'vitest'

import {
  createVerifier,
  localRevocations,
  type VerifyMessage,
  watchToken,
} from '../../src/index.ts'
import { AuthError } from '../../src/refusal/errors.ts'
import { findInternals, formOf } from '../../src/verifier/internals.ts'
import { createProvenVerifier } from '../../src/verifier/proven-verifier.ts'
import { createSelectedVerifier } from '../../src/verifier/selected-verifier.ts'

const clock = manualClock()
const [one, two] = await Promise.all([createTestIssuer({ clock }), createTestIssuer({ clock })])
const revocations = localRevocations({ clock })
const [A, B] = ['https://a.example', 'https://b.example']
const [first, second] = [
  createVerifier({ ...one.verifierOptions, maxTokenSize: 5000, issuer: [A, B] }),
  createVerifier({ ...two.verifierOptions, revocations, issuer: A }),
]
const tokens = [
  await one.token({ claims: { iss: A } }),
  await two.token({ claims: { iss: A, jti: '1' } }),
] as const

function select(token: string) {
  if (token === tokens[0]) return first
  if (token === tokens[1]) return second
  throw new AuthError('invalid_token', 'malformed')
}

const verifier = createSelectedVerifier([first, second], select, clock)

test('each token is judged by the verifier that is selected, and by no other', async () => {
  expect((await verifier.verify(tokens[0])).token).toBe(tokens[0])
  expect((await verifier.verify(tokens[1])).token).toBe(tokens[1])
  const crossed = createSelectedVerifier([first, second], () => first)
  await expect(crossed.verify(tokens[1])).rejects.toMatchObject({ reason: 'signature' })
})

test('a guard gets a token at once that the selected verifier has accepted', () => {
  expect(findInternals(verifier)?.recall(tokens[0])?.token).toBe(tokens[0])
  expect(findInternals(verifier)?.maxTokenSize).toBe(16_384)
})

test('a token of a verifier that somebody has wrapped has to be asked for', () => {
  const wrapped = { ...first, verify: async (token: string) => await first.verify(token) }
  const around = createSelectedVerifier([wrapped], () => wrapped)
  expect(findInternals(around)?.recall(tokens[0])).toBeUndefined()
})

test('who is selected says what may be a token, and a text that selects nobody is none', () => {
  const prover = {
    recall: () => undefined,
    prove: async () => await Promise.reject(new AuthError('invalid_token', 'inactive')),
    check: () => false,
    stands: () => true,
    late: () => new AuthError('introspection_unavailable', 'timeout'),
    ready: async () => {},
    mayBeToken: (text: string) => text.endsWith('|'),
  }
  const opaque = createProvenVerifier(prover, { issuer: null, audience: null, clock })
  const fault = new TypeError('a fault of ours')
  const chosen = createSelectedVerifier<unknown>([first, opaque], (text) => {
    if (text === 'nobody|') throw new AuthError('invalid_token', 'malformed')
    if (text === 'fault|') throw fault
    return text.startsWith('opaque') ? opaque : first
  })
  const mayBeToken = formOf(chosen)
  expect(mayBeToken?.('opaque|')).toBe(true)
  expect(mayBeToken?.('opaque')).toBe(false)
  expect(mayBeToken?.('jwt|')).toBe(false)
  expect(mayBeToken?.('nobody|')).toBe(false)
  expect(() => mayBeToken?.('fault|')).toThrow(fault)
  expect(formOf(verifier)).toBeUndefined()
})

test('it checks an issuer if all of them do', async () => {
  expect(findInternals(verifier)?.checksIssuer(A)).toBe(true)
  expect(findInternals(verifier)?.checksIssuer(B)).toBe(false)
  const wrapped = createSelectedVerifier(
    [first, { ...first, verify: async (t) => await first.verify(t) }],
    select,
  )
  expect(findInternals(wrapped)?.checksIssuer(A)).toBe(false)
})

test('a token for none of them is refused and published; so is what is no text', async () => {
  await clock.advance(1)
  const messages = await published(async () => {
    await expect(verifier.verify('other')).rejects.toMatchObject({ reason: 'malformed' })
    await expect(verifier.verify(undefined as unknown as string)).rejects.toMatchObject({
      reason: 'malformed',
    })
  })
  const refused = { verifier, reason: 'malformed', remembered: false, duration: 0 }
  expect(messages).toMatchObject([refused, refused])
})

test('what fails while a verifier is selected is no verdict', async () => {
  const fault = new TypeError('a bug')
  const failing = createSelectedVerifier([first], () => {
    throw fault
  })
  const messages = await published(async () => {
    await expect(failing.verify(tokens[0])).rejects.toBe(fault)
  })
  expect(messages).toEqual([])
})

test('an open connection hears of the revocations of the selected verifier', async () => {
  const auth = await verifier.verify(tokens[1])
  const ended = new Promise((resolve) => {
    watchToken(verifier, auth, resolve, { clock })
  })
  await revocations.revoke(auth)
  expect(await ended).toMatchObject({ reason: 'revoked' })
})

test('it is ready when all are, and fails with the first that is not', async () => {
  await expect(verifier.ready()).resolves.toBeUndefined()
  const fault = new Error('down')
  const down = { ...second, ready: async () => await Promise.reject(fault) }
  await expect(createSelectedVerifier([first, down], select).ready()).rejects.toBe(fault)
})

async function published(act: () => Promise<void>): Promise<readonly VerifyMessage[]> {
  const messages: VerifyMessage[] = []
  const listen = (message: unknown) => void messages.push(message as VerifyMessage)
  diagnostics.subscribe('portcullis:verify', listen)
  try {
    await act()
  } finally {
    diagnostics.unsubscribe('portcullis:verify', listen)
  }
  return messages
}
