import type { JsonObject } from '@portcullis/core'
import { isJsonObject } from '@portcullis/kit/json'

import type { CallTransmitter, TransmitterRequest } from './stream-calls.ts'
import {
  idOf,
  isOurs,
  listed,
  readStream,
  type Stream,
  type Wanted,
} from './stream-configuration.ts'
import { type Transmission, transmissionIn } from './stream-events.ts'
import { type Endpoints, metadataUrl, readEndpoints, type Trust } from './stream-metadata.ts'
import { theOnly } from './stream-settling.ts'
import { TransmitterError } from './transmitter-error.ts'

// The operations of a transmitter's stream management, each of which is one request or a few.
// OpenID Shared Signals Framework 1.0 sections 7.2 and 8.1

export interface Management {
  list(): Promise<readonly Stream[]>
  create(): Promise<Stream | undefined>
  only(): Promise<Stream>
  update(id: string): Promise<Stream | undefined>
  remove(id: string): Promise<void>
  /** `undefined` if the transmitter does not tell, or says what is none. */
  readStatus(id: string): Promise<Transmission | undefined>
  /** Whether it is done: it may be that it has only been taken in (202). */
  setStatus(id: string, status: Transmission, reason: string | undefined): Promise<boolean>
  requestVerification(id: string, state: string): Promise<void>
}

export interface ManagementParts {
  readonly call: CallTransmitter
  readonly wanted: Wanted
  readonly trust: Trust
  readonly audience: readonly string[]
}

/** Of a stream whose metadata were just read. @param closed Ends what is under way. */
export async function createManagement(
  parts: ManagementParts,
  closed: AbortSignal,
): Promise<Management> {
  const { call, wanted, trust, audience } = parts
  const send = async (request: TransmitterRequest) => await call(request, closed)
  const endpoints = await readMetadata(send, parts)
  const { configuration } = endpoints
  const ofConfiguration = { url: configuration, name: 'the configuration_endpoint' } as const
  const read = (value: JsonObject) => readStream(value, wanted, trust, audience)

  /** The ids of all streams of this client when they were listed last. */
  let known: ReadonlySet<string> = new Set()

  async function configurations(): Promise<readonly JsonObject[]> {
    const answer = await send({ ...ofConfiguration, ...GET })
    const byId = listed(answer.value)
    known = new Set(byId.keys())
    return [...byId.values()]
  }

  async function remove(id: string): Promise<void> {
    const url = withStream(configuration, id)
    await send({ ...ofConfiguration, ...DELETE, url })
  }

  /**
   * What cannot be used must not stay: the next attempt would create another one. But some transmitters answer with a stream that they have,
   * which may be that of another application.
   */
  async function readCreated(value: unknown): Promise<Stream> {
    const id = idOf(value)
    if (known.has(id)) throw new TransmitterError(NOT_NEW)
    try {
      const created = isJsonObject(value) ? value : {}
      if (!isOurs(created, wanted)) throw new TransmitterError(NOT_FOUND_AGAIN)
      return { ...read(created), isAsWanted: true }
    } catch (error) {
      await remove(id)
      throw error
    }
  }

  return {
    remove,
    list: async () =>
      (await configurations()).filter((each) => isOurs(each, wanted)).map((each) => read(each)),
    only: async () => read(theOnly(await configurations())),
    async create() {
      const request = { ...ofConfiguration, ...CREATE, body: wanted }
      const { status, value } = await send(request)
      return status === 409 ? undefined : await readCreated(value)
    },
    async update(id) {
      const body = { stream_id: id, ...wanted }
      const { status, value } = await send({ ...ofConfiguration, ...UPDATE, body })
      if (status === 202) return undefined
      if (!isJsonObject(value) || idOf(value) !== id) {
        throw new TransmitterError('the answer is of another stream')
      }
      return { ...read(value), isAsWanted: true }
    },
    async readStatus(id) {
      if (endpoints.status === undefined) return undefined
      const url = withStream(endpoints.status, id)
      const { value } = await send({ url, name: 'the status_endpoint', ...GET })
      return transmissionIn(value)
    },
    async setStatus(id, status, reason) {
      const { url, name } = namedIn(endpoints, 'status')
      const body = { stream_id: id, status, ...(reason === undefined ? {} : { reason }) }
      return (await send({ url, name, ...POST, body })).status !== 202
    },
    async requestVerification(id, state) {
      const { url, name } = namedIn(endpoints, 'verification')
      await send({ url, name, ...POST, body: { stream_id: id, state } })
    },
  }
}

const GET = { method: 'GET', withBody: [200], without: [], isRepeatable: true } as const
const POST = { method: 'POST', withBody: [], without: [200, 202, 204], isRepeatable: true } as const
const DELETE = {
  method: 'DELETE',
  withBody: [],
  without: [200, 204, 404],
  isRepeatable: true,
} as const
/** Sent twice it could make two streams. */
const CREATE = {
  method: 'POST',
  withBody: [200, 201],
  without: [409],
  isRepeatable: false,
} as const
const UPDATE = { method: 'PATCH', withBody: [200], without: [202], isRepeatable: true } as const

const NOT_NEW =
  'the transmitter created no stream, and answered with one that there was before: its description is another'
const NOT_FOUND_AGAIN =
  'the transmitter does not keep the description as it is, so the stream could not be found again: state a shorter one, or let it push'

async function readMetadata(
  send: (request: TransmitterRequest) => Promise<{ readonly value: unknown }>,
  { trust, wanted }: ManagementParts,
): Promise<Endpoints> {
  const url = metadataUrl(trust.transmitter)
  const { value } = await send({ url, name: 'the metadata URL', ...GET })
  return readEndpoints(value, wanted.delivery.method, trust)
}

function withStream(endpoint: string, id: string): string {
  const url = new URL(endpoint)
  url.searchParams.set('stream_id', id)
  return url.href
}

/** @throws TransmitterError if the metadata do not name it. */
function namedIn(
  endpoints: Endpoints,
  which: 'status' | 'verification',
): { readonly url: string; readonly name: string } {
  const url = endpoints[which]
  if (url === undefined) throw new TransmitterError(`the transmitter has no ${which}_endpoint`)
  return { url, name: `the ${which}_endpoint` }
}
