import { isUtf8 } from 'node:buffer'

import { parseJson } from '@portcullis/kit/json'
import type { Routes } from '@portcullis/testing'

import { createEventStreams } from './event-stream.ts'
import { explainedJson } from './explain-token.ts'
import type { Gate } from './gate.ts'
import { anyObject, InputError, type Read } from './input.ts'
import { OperationError } from './operation-error.ts'
import {
  readClear,
  readExplain,
  readFault,
  readLogout,
  readMint,
  readNothing,
  readRotate,
  readVerdicts,
} from './requests.ts'
import type { Service } from './service.ts'

// The operations of the service over HTTP. Each request passes the gate first, except the one for health.

/** Under this path, on the port of the token service. */
export const CONTROL_PATH = '/control/'

const MAX_BODY_OCTETS = 64 * 1024

/** One operation: what it is asked with, and what it answers, as JSON. */
type Operation = (
  request: Request,
  signal: AbortSignal,
  address: string,
) => Response | Promise<Response>

/** The interface that the other commands, and the pages, talk to. */
export function createControl(service: Service, gate: Gate): Routes {
  const operations = operationsOf(service)

  return async (request, signal, address) => {
    const { pathname } = new URL(request.url)
    if (!pathname.startsWith(CONTROL_PATH)) return undefined
    const methods = operations.get(pathname.slice(CONTROL_PATH.length))
    // Health is for all, since it tells nothing: a container has no secret to check it with.
    const denial = methods === operations.get('health') ? undefined : gate(request)
    if (denial !== undefined) return answer(denial.status, { error: denial.error })
    if (methods === undefined) return answer(404, { error: 'there is no such operation' })
    const operation = methods.get(request.method)
    if (operation === undefined) {
      const allow = [...methods.keys()].join(', ')
      return answer(405, { error: `the method must be ${allow}` }, { allow })
    }
    try {
      return await operation(request, signal, address)
    } catch (error) {
      if (error instanceof InputError) return answer(400, { error: error.message })
      if (error instanceof OperationError) return answer(error.status, { error: error.message })
      throw error
    }
  }
}

/** The operations of a path, by their methods. */
type Methods = ReadonlyMap<string, Operation>

function operationsOf(service: Service): ReadonlyMap<string, Methods> {
  return new Map([...questions(service), ...changes(service)])
}

/** What can be asked. */
function questions(service: Service): readonly (readonly [path: string, methods: Methods])[] {
  const { log } = service
  const streams = createEventStreams(log)
  return [
    ['health', get(() => answer(200, { status: 'ok' }))],
    ['state', get(() => answer(200, service.state()))],
    ['log', get((request) => answer(200, { events: log.after(lastSeen(request)) }))],
    [
      'stream',
      get(
        (request, signal, address) =>
          streams(lastSeen(request), signal, address) ??
          answer(503, { error: 'too many listen already' }),
      ),
    ],
    ['kinds', get(async () => answer(200, { kinds: await service.badKinds() }))],
    [
      'explain',
      post(readExplain, async (input, request) =>
        explainedJson(await service.explain(input, authUrlOf(request))),
      ),
    ],
  ]
}

/** What can be done. */
function changes(service: Service): readonly (readonly [path: string, methods: Methods])[] {
  const { rotations } = service
  /** Answers with the state after the change. */
  const change = <Input>(read: Read<Input>, act: (input: Input) => void | Promise<void>) =>
    post(read, async (input) => {
      await act(input)
      return service.state()
    })
  return [
    ['mint', post(readMint, async (input) => ({ token: await service.mint(input) }))],
    ['rotate', change(readRotate, async (input) => await rotations.rotate(input))],
    ['complete', change(readNothing, async () => await rotations.complete())],
    ['rollback', change(readNothing, async () => await rotations.rollBack())],
    [
      'fault',
      change(readFault, (input) => {
        service.fault(input)
      }),
    ],
    [
      'fault/clear',
      post(readClear, ({ endpoint }) => ({ cleared: service.clearFaults(endpoint) })),
    ],
    ['logout', post(readLogout, async (input) => ({ status: await service.endSession(input) }))],
    [
      'verdicts',
      post(readVerdicts, (input) => {
        service.report(input)
        return { logged: input.verdicts.length }
      }),
    ],
  ]
}

function get(operation: Operation): Methods {
  return new Map([['GET', operation]])
}

function post<Input>(read: Read<Input>, act: (input: Input, request: Request) => unknown): Methods {
  return new Map<string, Operation>([
    [
      'POST',
      async (request) => {
        const input = await bodyOf(request, read)
        return input instanceof Response ? input : answer(200, await act(input, request))
      },
    ],
  ])
}

/** The address of the service, by the name that the client has for it. */
export function authUrlOf({ headers }: Request): string {
  return `http://${headers.get('host')}`
}

/** The body, read, or why it is refused. */
export async function bodyOf<Input>(
  request: Request,
  read: Read<Input>,
): Promise<Input | Response> {
  // No form of another page can send this type without being asked first, and such a question is refused.
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') return answer(415, { error: 'the body must be JSON' })
  const octets = new Uint8Array(await request.arrayBuffer())
  if (octets.length > MAX_BODY_OCTETS) {
    return answer(413, { error: `the body must have at most ${MAX_BODY_OCTETS} bytes` })
  }
  return read(anyObject(parsed(octets), 'the body'), 'the body')
}

function parsed(octets: Uint8Array): unknown {
  const value = isUtf8(octets) ? parseJson(new TextDecoder().decode(octets)) : undefined
  if (value === undefined) throw new InputError('the body must be JSON')
  return value
}

/** The last event that the client has: browsers name it in a header when they ask again. */
function lastSeen(request: Request): number {
  const text =
    request.headers.get('last-event-id') ?? new URL(request.url).searchParams.get('after')
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : 0
}

function answer(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json(body, {
    status,
    headers: { ...headers, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
  })
}
