import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { constants, createBrotliCompress, createGzip } from 'node:zlib'

import type { Behaviour } from './key-endpoint.ts'
import { oldJwk, rsaJwk } from './tokens.ts'

export interface Misbehaviour {
  /** Completes the sentence "the endpoint …". */
  readonly name: string
  readonly behave: Behaviour
  readonly reason: 'unreachable' | 'timeout' | 'bad_document'
  /** The pause that it asks for. Seconds. */
  readonly retryAfter?: number
  /** Whether a client that knows the endpoint asks a second time in the same attempt: an idle connection may have ended. */
  readonly isAskedTwice?: true
}

export const TIMEOUT = 5
export const MIB = 1024 * 1024
const GOOD = JSON.stringify(oldJwk)
const CHUNK = Buffer.alloc(64 * 1024, ' ')

/** Answers with a document, or with this very text or these octets. */
export function serve(
  document: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Behaviour {
  const isReady = typeof document === 'string' || Buffer.isBuffer(document)
  const body = isReady ? document : JSON.stringify(document)
  return ({ response }) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
  }
}

/** Takes until the deadline or longer, and would be right in the end. */
export const stalling: readonly Misbehaviour[] = [
  {
    name: 'never answers',
    reason: 'timeout',
    behave: async ({ pass }) => {
      await pass(TIMEOUT)
    },
  },
  {
    name: 'sends its headers too late',
    reason: 'timeout',
    behave: async ({ response, pass }) => {
      await pass(TIMEOUT)
      response.end(GOOD)
    },
  },
  {
    name: 'sends its headers alone',
    reason: 'timeout',
    behave: async ({ response, heard, pass }) => {
      response.flushHeaders()
      await heard
      await pass(TIMEOUT)
    },
  },
  {
    name: 'stops in the body',
    reason: 'timeout',
    behave: async ({ response, heard, pass }) => {
      response.write(GOOD.slice(0, 100))
      await heard
      await pass(TIMEOUT)
    },
  },
  {
    name: 'sends an octet a second',
    reason: 'timeout',
    behave: async ({ response, heard, pass }) => {
      response.flushHeaders()
      await heard
      for (const octet of GOOD.slice(0, TIMEOUT)) {
        response.write(octet)
        await pass(1)
      }
    },
  },
]

/** Sends far more than a key document has, which would be a good one in the end. */
export const flooding: readonly Misbehaviour[] = [
  {
    name: 'never ends its body',
    reason: 'bad_document',
    behave: async ({ response }) => {
      await pour(response, 400 * MIB) // enough to fail by, and too little to harm
    },
  },
  {
    name: 'sends 100 MB and says so',
    reason: 'bad_document',
    behave: async ({ response }) => {
      response.setHeader('content-length', 100 * MIB + GOOD.length)
      await pour(response, 100 * MIB)
      response.end(GOOD)
    },
  },
  {
    name: 'sends 100 MB in pieces',
    reason: 'bad_document',
    behave: async ({ response }) => {
      await pour(response, 100 * MIB)
      response.end(GOOD)
    },
  },
]

/** The same in few octets: the client may have them all before it notices, and then keeps the connection. */
export const bombs: readonly Misbehaviour[] = [
  {
    name: 'sends a gzip bomb',
    reason: 'bad_document',
    behave: await bomb('gzip', createGzip({ level: 1 })),
  },
  {
    name: 'sends a brotli bomb',
    reason: 'bad_document',
    behave: await bomb(
      'br',
      createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
    ),
  },
]

const breaking: readonly Misbehaviour[] = [
  {
    name: 'resets the connection before it answers',
    reason: 'unreachable',
    isAskedTwice: true,
    behave: ({ socket }) => {
      socket.resetAndDestroy()
    },
  },
  {
    name: 'closes the connection before it answers',
    reason: 'unreachable',
    isAskedTwice: true,
    behave: ({ socket }) => {
      socket.end()
    },
  },
  {
    name: 'resets the connection in the body',
    reason: 'unreachable',
    behave: async ({ response, socket, heard }) => {
      response.write(GOOD.slice(0, 100))
      await heard
      socket.resetAndDestroy()
    },
  },
  {
    name: 'closes the connection in the body',
    reason: 'unreachable',
    behave: async ({ response, socket, heard }) => {
      response.write(GOOD.slice(0, 100))
      await heard
      socket.end()
    },
  },
  {
    name: 'promises more octets than it sends',
    reason: 'unreachable',
    behave: ({ socket }) => {
      socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${GOOD.length + 1}\r\n\r\n${GOOD}`)
    },
  },
  {
    name: 'does not speak HTTP',
    reason: 'unreachable',
    isAskedTwice: true,
    behave: ({ socket }) => {
      socket.end(GOOD)
    },
  },
  {
    name: 'calls plain text gzip',
    reason: 'unreachable',
    behave: serve(GOOD, { headers: { 'content-encoding': 'gzip' } }),
  },
]

/** A good document under a status that says that it is none. */
const statuses: readonly Misbehaviour[] = [
  201, 202, 203, 204, 206, 300, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 429, 500, 502,
  503,
].flatMap((status) => [
  {
    name: `answers ${status}`,
    reason: 'unreachable',
    behave: serve(oldJwk, { status }),
  },
  {
    name: `answers ${status} with Retry-After`,
    reason: 'unreachable',
    behave: serve(oldJwk, { status, headers: { 'retry-after': '20' } }),
    retryAfter: 20,
  },
])

const others: readonly Misbehaviour[] = [
  {
    name: 'asks for a pause of a day, of which a minute is granted',
    reason: 'unreachable',
    behave: serve(oldJwk, { status: 503, headers: { 'retry-after': '86400' } }),
    retryAfter: 60,
  },
  {
    name: 'redirects to itself',
    reason: 'unreachable',
    behave: ({ request, response }) => {
      response.writeHead(302, { location: request.url }).end(GOOD)
    },
  },
]

const documents: readonly Misbehaviour[] = Object.entries({
  'an HTML page': '<!doctype html><title>Sign in</title>',
  nothing: '',
  'white space': '\r\n',
  'one octet more than 1 MiB': GOOD.padEnd(MIB + 1),
  'a truncated document': GOOD.slice(0, -20),
  'two documents': GOOD + GOOD,
  'what is almost JSON': GOOD.replaceAll('"', "'"),
  'JSON in UTF-16': Buffer.from(GOOD, 'utf16le'),
  'JSON that is not UTF-8': Buffer.from(`{"comment":"\u00FF",${GOOD.slice(1)}`, 'latin1'),
  'an array of keys': [oldJwk],
  'a JSON string': JSON.stringify(GOOD),
  null: 'null',
  'an empty object': {},
  'an empty set': { keys: [] },
  'a set that is no array': { keys: { 0: oldJwk } },
  'a set behind a prototype': `{"__proto__":{"keys":[${GOOD}]}}`,
  'arrays half a million deep': '['.repeat(MIB / 2) + ']'.repeat(MIB / 2),
  'half a million entries that are no keys': {
    keys: Array.from({ length: MIB / 2 - 10 }, () => 1),
  },
  'our key behind 500 keys that cannot be used': {
    keys: [...Array.from({ length: 500 }, () => ({ kty: 'oct' })), oldJwk],
  },
  'a key for encryption alone': { ...oldJwk, use: 'enc' },
  'a symmetric key alone': { keys: [{ kty: 'oct', k: oldJwk.n, alg: 'RS512' }] },
  'a key of 512 bits alone': rsaJwk(512),
  'a key of 1024 bits alone': rsaJwk(1024),
  'a key of 16384 bits alone': { keys: [rsaJwk(16_384)] },
  'a key with e = 1 alone': rsaJwk(2048, 'AQ'),
}).map(([name, document]) => ({
  name: `serves ${name}`,
  reason: 'bad_document',
  behave: serve(document),
}))

export const misbehaviours: readonly Misbehaviour[] = [
  ...stalling,
  ...flooding,
  ...bombs,
  ...breaking,
  ...statuses,
  ...others,
  ...documents,
]

/** Of those from which the same follows, one; all that break the connection, since a client may have another one ready. */
export const kinds: readonly Misbehaviour[] = [
  ...breaking,
  ...[stalling, flooding, bombs, others, documents].flatMap((group) => group.slice(0, 1)),
  ...statuses.slice(-2),
]

/** Writes white space as fast as the client reads it; once it has hung up, no more. */
async function pour(response: ServerResponse, octets: number): Promise<void> {
  for (let sent = 0; sent < octets; sent += CHUNK.length) {
    if (!response.write(CHUNK)) await once(response, 'drain')
  }
}

async function bomb(encoding: string, compressor: NodeJS.ReadWriteStream): Promise<Behaviour> {
  const plain = [...Array.from({ length: 1600 }, () => CHUNK), Buffer.from(GOOD)]
  const compressed = await buffer(Readable.from(plain).pipe(compressor))
  return ({ response }) => {
    response.writeHead(200, { 'content-encoding': encoding }).end(compressed)
  }
}
