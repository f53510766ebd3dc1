import { isUtf8 } from 'node:buffer'

import { mediaTypeOf } from '@portcullis/kit/http'
import { parseJson } from '@portcullis/kit/json'
import type { Routes } from '@portcullis/testing'

import { createEventStreams } from './event-stream.ts'
import { explainedJson } from './explain-token.ts'
import type { Gate } from './gate.ts'
import { anyObject, InputError, type Read } from './input.ts'
import * as requests from './requests.ts'
import type { Service } from './service.ts'

// The operations of the service over HTTP. Each request passes the gate first, except the one for health.

export const CONTROL_PATH = '/control/'
export const HEALTH = 'health'
/** What tells it from whatever else answers at a port. */
export const PROGRAM = 'portcullis serve'

const MAX_BODY_OCTETS = 64 * 1024

type Run = (request: Request, signal: AbortSignal, address: string) => Response | Promise<Response>

interface Operation {
  readonly method: 'GET' | 'POST'
  readonly run: Run
}

export function createControl(service: Service, gate: Gate): Routes {
  const operations: ReadonlyMap<string, Operation> = new Map(operationsOf(service))

  return async (request, signal, address) => {
    const { pathname } = new URL(request.url)
    if (!pathname.startsWith(CONTROL_PATH)) return undefined
    const name = pathname.slice(CONTROL_PATH.length)
    // Health is for all, since it tells nothing: a container has no secret to check it with.
    const denial = name === HEALTH ? undefined : gate(request)
    if (denial !== undefined) return answer(denial.status, { error: denial.error })
    const operation = operations.get(name)
    if (operation === undefined) return answer(404, { error: 'there is no such operation' })
    const { method: allow, run } = operation
    if (request.method !== allow) {
      return answer(405, { error: `the method must be ${allow}` }, { allow })
    }
    try {
      return await run(request, signal, address)
    } catch (error) {
      if (error instanceof InputError) return answer(error.status, { error: error.message })
      throw error
    }
  }
}

function operationsOf(service: Service): readonly (readonly [name: string, Operation])[] {
  const { log, rotations } = service
  const streams = createEventStreams(log)
  /** Answers with the state after the change. */
  const change = <Input>(read: Read<Input>, act: (input: Input) => void | Promise<void>) =>
    post(read, async (input) => {
      await act(input)
      return service.state()
    })
  return [
    [HEALTH, get(() => answer(200, { status: 'ok', program: PROGRAM }))],
    ['state', get(() => answer(200, service.state()))],
    ['log', get((request) => answer(200, { events: log.after(lastSeen(request)) }))],
    [
      'stream',
      get(
        (request, ...client) =>
          streams(lastSeen(request), ...client) ??
          answer(503, { error: 'too many listen already' }),
      ),
    ],
    ['kinds', get(async () => answer(200, { kinds: await service.badKinds() }))],
    [
      'explain',
      post(requests.readExplain, async ({ token }, request) =>
        explainedJson(await service.explain(token, authUrlOf(request))),
      ),
    ],
    ['mint', post(requests.readMint, async (input) => ({ token: await service.mint(input) }))],
    [
      'mint/bad',
      post(requests.readMintBad, async (input) => ({ tokens: await service.mintBad(input) })),
    ],
    ['rotate', change(requests.readRotate, async (input) => await rotations.rotate(input))],
    ['complete', change(requests.readNothing, async () => await rotations.complete())],
    ['rollback', change(requests.readNothing, async () => await rotations.rollBack())],
    [
      'fault',
      change(requests.readFault, (input) => {
        service.fault(input)
      }),
    ],
    [
      'fault/clear',
      post(requests.readClear, ({ endpoint }) => ({ cleared: service.clearFaults(endpoint) })),
    ],
    [
      'logout',
      post(requests.readLogout, async (input) => ({ status: await service.endSession(input) })),
    ],
    ['verdicts', post(requests.readVerdicts, (input) => ({ logged: service.report(input) }))],
  ]
}

function get(run: Run): Operation {
  return { method: 'GET', run }
}

function post<Input>(
  read: Read<Input>,
  act: (input: Input, request: Request) => unknown,
): Operation {
  return {
    method: 'POST',
    async run(request) {
      const input = await bodyOf(request, read)
      return input instanceof Response ? input : answer(200, await act(input, request))
    },
  }
}

/** By the name that the client has for it. */
export function authUrlOf({ headers }: Request): string {
  return `http://${headers.get('host')}`
}

export async function bodyOf<Input>(
  request: Request,
  read: Read<Input>,
): Promise<Input | Response> {
  // No form of another page can send this type without being asked first, and such a question is refused.
  const type = mediaTypeOf(request.headers.get('content-type'))
  if (type !== 'application/json') return answer(415, { error: 'the body must be JSON' })
  const octets = new Uint8Array(await request.arrayBuffer())
  if (octets.length > MAX_BODY_OCTETS) {
    return answer(413, { error: `the body must have at most ${MAX_BODY_OCTETS} bytes` })
  }
  const value = isUtf8(octets) ? parseJson(new TextDecoder().decode(octets)) : undefined
  if (value === undefined) throw new InputError('the body must be JSON')
  return read(anyObject(value, 'the body'), 'the body')
}

/** The last event that the client has: browsers name it in a header when they ask again. */
function lastSeen(request: Request): number {
  const text =
    request.headers.get('last-event-id') ?? new URL(request.url).searchParams.get('after')
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : 0
}

function answer(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  return Response.json(body, {
    status,
    headers: { ...headers, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
  })
}
