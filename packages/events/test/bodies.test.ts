import { Readable } from 'node:stream'

import { describe, expect, test } from 'vitest'

import { eventScene, form, logoutScene, read, transmitter } from './scene.ts'

// Bodies as a framework may hand them over: whole, in pieces, read by somebody else, too long, or none.

const FORM = 'application/x-www-form-urlencoded'
const SET = 'application/secevent+jwt'
const LARGEST = 65_536
const TOO_LARGE = { error_description: 'The body has more than 65536 bytes' }

const token = await transmitter.logoutToken({ sid: 's-1' })
const subject = { format: 'opaque', id: 's-1' }
const event = await transmitter.securityEvent({ type: 'session-revoked', subject })

async function answerTo(body: unknown, type: string | undefined = FORM) {
  const { receiver, store, told } = logoutScene()
  const headers = { 'content-type': type }
  const answer = await receiver.answer({ method: 'POST', headers, body })
  return { ...answer, calls: store.calls, told }
}

/** A form that breaks off when all of it has come. */
async function* broken(): AsyncGenerator<Buffer> {
  yield Buffer.from(form(token))
  throw new Error('gone')
}

/** A form of so many octets, whose last field is the token. */
function padded(length: number): string {
  const rest = `&${form(token)}`
  return `a=${'b'.repeat(length - rest.length - 2)}${rest}`
}

/** In pieces of so many octets. */
function* piecesOf(text: string, size: number): Generator<Buffer> {
  for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size))
}

type Form = readonly [name: string, make: (text: string) => unknown]

const WHOLE: readonly Form[] = [
  ['a text', (text) => text],
  ['octets', (text) => Buffer.from(text)],
  ['a part of a larger buffer', (text) => Buffer.from(`x${text}x`).subarray(1, text.length + 1)],
]
const STREAMS: readonly Form[] = [
  ['a stream of one piece', (text) => Readable.from([Buffer.from(text)])],
  ['a stream of many pieces', (text) => Readable.from(piecesOf(text, 1000))],
  ['a stream of texts', (text) => Readable.from([text.slice(0, 100), text.slice(100)])],
  ['a stream of the platform', (text) => new Response(text).body],
]

describe.each([...WHOLE, ...STREAMS])('%s', (_, make) => {
  test('is read', async () => {
    expect(await answerTo(make(form(token)))).toMatchObject({ status: 200, calls: 1 })
  })

  test('may have 65,536 bytes', async () => {
    expect(await answerTo(make(padded(LARGEST)))).toMatchObject({ status: 200, calls: 1 })
  })

  test('may not have one more', async () => {
    const { status, body, calls } = await answerTo(make(padded(LARGEST + 1)))
    expect([status, calls]).toEqual([400, 0])
    expect(read(body)).toMatchObject(TOO_LARGE)
  })

  test('may be a security event, which is the whole of it', async () => {
    const headers = { 'content-type': SET }
    const { receiver, store } = eventScene({ revokes: 'session' })
    expect(await receiver.answer({ headers, body: make(event) })).toMatchObject({ status: 202 })
    expect(await receiver.answer({ headers, body: make(`${event}\0`) })).toMatchObject({
      status: 400,
    })
    expect(store.calls).toBe(1)
  })
})

test('a stream of single octets is read', async () => {
  const body = Readable.from(piecesOf(form(token), 1))
  expect(await answerTo(body)).toMatchObject({ status: 200, calls: 1 })
})

test('of 100 MB no more is taken than the limit and a piece', async () => {
  let taken = 0
  async function* endless() {
    for (; taken < 1e8; taken += 16_384) yield Buffer.alloc(16_384, 'a')
  }
  const { status, body } = await answerTo(endless())
  expect(status).toBe(400)
  expect(read(body)).toMatchObject(TOO_LARGE)
  expect(taken).toBeLessThanOrEqual(LARGEST + 16_384)
})

test('a body that breaks off is no body, even if the whole form has come', async () => {
  expect(await answerTo(broken())).toMatchObject({ status: 400, calls: 0 })
})

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['a number', 7],
  ['an empty object', {}],
  ['an object with another field', { token }],
  ['a field that is there twice', { logout_token: [token, token] }],
  ['a field in a list', { logout_token: [token] }],
  ['a field that is an object', { logout_token: { token } }],
  ['an inherited field', Object.create({ logout_token: token })],
  ['a list', [{ logout_token: token }]],
  ['a stream of objects', Readable.from([{ logout_token: token }])],
  ['a stream of lists of octets', Readable.from([[...Buffer.from(form(token))]])],
  ['a stream that does not begin', { [Symbol.asyncIterator]: () => undefined }],
])('%s is no form', async (_, body) => {
  const answer = await answerTo(body)
  expect(answer).toMatchObject({ status: 400, calls: 0 })
  expect(read(answer.body)).toMatchObject({ error: 'invalid_request' })
  const refused = { err: 'invalid_request', description: expect.any(String) as string }
  expect(answer.told).toMatchObject([{ outcome: 'refused', claims: undefined, refused }])
})

// As in `refused-event.test.ts`: somebody searches for these words.
test.each<[string, object, string]>([
  ['no body', {}, 'The request has no body that can be read'],
  ['a field in a list', { body: { logout_token: [token] } }, 'The form must have one logout_token'],
  ['no field', { body: 'token=x' }, 'The form must have one logout_token'],
  ['another type', { headers: {} }, `The Content-Type must be ${FORM}`],
])('a log-out with %s is told so', async (_, members, description) => {
  const request = { headers: { 'content-type': FORM }, ...members }
  const { body } = await logoutScene().receiver.answer(request)
  expect(read(body)).toEqual({ error: 'invalid_request', error_description: description })
})

test('a body that a request inherits is not its own', async () => {
  const { receiver, store } = logoutScene()
  const request = Object.create({ body: form(token) }) as object
  const sent = Object.assign(request, { headers: { 'content-type': FORM } })
  expect(await receiver.answer(sent)).toMatchObject({ status: 400 })
  expect(store.calls).toBe(0)
})

describe('the media type', () => {
  test.each([
    `${FORM};charset=UTF-8`,
    `${FORM} ; charset=utf-8`,
    ` ${FORM}`,
    'Application/X-WWW-Form-URLEncoded',
  ])('%j is that of a form', async (type) => {
    expect(await answerTo(form(token), type)).toMatchObject({ status: 200 })
  })

  test.each([undefined, '', `${FORM}x`, 'multipart/form-data', SET, `${SET}, ${FORM}`])(
    '%j is not',
    async (type) => {
      const { receiver, store } = logoutScene()
      const headers = type === undefined ? {} : { 'content-type': type }
      const answer = await receiver.answer({ headers, body: form(token) })
      expect(answer).toMatchObject({ status: 400 })
      expect(store.calls).toBe(0)
    },
  )

  test.each([undefined, '', `${SET}x`, 'application/jwt', 'application/json', FORM])(
    '%j is not that of a security event',
    async (type) => {
      const { receiver, store } = eventScene({ revokes: 'session' })
      const headers = type === undefined ? {} : { 'content-type': type }
      const answer = await receiver.answer({ headers, body: event })
      expect([answer.status, read(answer.body)]).toEqual([
        400,
        { err: 'invalid_request', description: `The Content-Type must be ${SET}` },
      ])
      expect(store.calls).toBe(0)
    },
  )

  test('an inherited header is none', async () => {
    const { receiver } = logoutScene()
    const headers = Object.create({ 'content-type': FORM }) as object
    expect(await receiver.answer({ headers, body: form(token) })).toMatchObject({ status: 400 })
  })
})
