import type { IncomingMessage, ServerResponse } from 'node:http'

import {
  type AuthError,
  authenticateRequest,
  authorizeRequest,
  findAuth,
  getAuth,
  type GuardOptions,
  refusal,
  refusalResponse,
} from '@portcullis/core'
import { checkGuardOptions } from '@portcullis/core/adapter'

import {
  type Application,
  type AppSpec,
  type Framework,
  type Guard,
  type Guarded,
  listening,
  listeningOverHttp2,
  type Route,
  type ScopeSpec,
  WEB,
} from './framework.ts'

// No framework: a router from the platform's `Request` to its `Response`, over core alone.

/** Without inherited members, which the platform reads as well. */
function own<Members extends object>(members: Members): Members {
  return Object.assign(Object.create(null) as object, members)
}

type Handler = (request: Request) => Promise<Response>
/** Goes on, or throws. `shown` is where this router keeps what a guard shows. */
type Step = (request: Request, shown: Map<string, unknown>) => Promise<void>

const guardStep = ({ verifier, options = {} }: Guard): Step => {
  const checked = checkGuardOptions<GuardOptions>(verifier, options, 'request')
  return async (request, shown) => {
    const auth = await authenticateRequest(verifier, request, checked)
    shown.set(checked.property ?? 'auth', auth)
  }
}

const steps = ({ guards = [], requirements = [] }: Guarded): readonly Step[] => [
  ...guards.map(guardStep),
  ...(requirements.length === 0
    ? []
    : [async (request: Request) => await authorizeRequest(request, requirements)]),
]

interface Place {
  readonly steps: readonly Step[]
  readonly handle: Route['handle'] | undefined
}

/** Finds what is at a path: the steps of every scope around it, and the handler, if there is one. */
function placesOf(spec: AppSpec): (path: string) => Place {
  const around = steps(spec)
  const scopes = Object.entries({ '': { routes: spec.routes ?? [] }, ...spec.routers }).map(
    ([prefix, scope]: [string, ScopeSpec]) => ({
      prefix,
      steps: steps(scope),
      routes: (scope.routes ?? []).map(({ path, handle, ...guarded }) => ({
        path,
        handle,
        steps: steps(guarded),
      })),
    }),
  )
  return (pathname) => {
    const path = withoutSlash(pathname)
    for (const { prefix, steps: inner, routes } of scopes) {
      const route = routes.find((each) => withoutSlash(prefix + each.path) === path)
      if (route !== undefined) {
        return { steps: [...around, ...inner, ...route.steps], handle: route.handle }
      }
    }
    return { steps: around, handle: undefined }
  }
}

function withoutSlash(path: string): string {
  return path.replace(/\/$/, '')
}

function createHandler(spec: AppSpec): Handler {
  const placeOf = placesOf(spec)
  return async (request) => {
    const { pathname } = new URL(request.url)
    if (pathname === spec.metadata?.path && ['GET', 'HEAD'].includes(request.method)) {
      return new Response(
        spec.metadata.body,
        own({ headers: own({ 'Content-Type': 'application/json' }) }),
      )
    }
    const { steps: all, handle } = placeOf(pathname)
    const shown = new Map<string, unknown>()
    let isLetIn = false
    try {
      for (const step of all) await step(request, shown)
      isLetIn = true
      if (handle === undefined) return new Response('Not Found', own({ status: 404 }))
      const body: unknown = await handle({
        property: (name) => shown.get(name),
        getAuth: (verifier) => getAuth(request, verifier),
        findAuth: (verifier) => findAuth(request, verifier),
      })
      return Response.json(body, own({}))
    } catch (error) {
      return failed(error, isLetIn ? undefined : refusal(error), spec)
    }
  }
}

/** The application's own error handler sees what the guard leaves to it, and the challenge of the guard stays. */
function failed(
  error: unknown,
  answer: AuthError | undefined,
  { onError, development }: AppSpec,
): Response {
  if (onError !== undefined && answer?.body === undefined) {
    const { status, body } = onError(error)
    return Response.json(body, own({ status, headers: answer?.headers ?? own({}) }))
  }
  if (answer !== undefined) return refusalResponse(error)
  if (development === true) console.error(error)
  return new Response('Internal Server Error', own({ status: 500 }))
}

/** What usual CORS middleware does. */
function withCors(handler: Handler): Handler {
  return async (request) => {
    const isPreflight =
      request.method === 'OPTIONS' && request.headers.has('access-control-request-method')
    const response = isPreflight
      ? new Response(
          null,
          own({
            status: 204,
            headers: own({ 'Access-Control-Allow-Methods': 'GET,HEAD,POST' }),
          }),
        )
      : await handler(request)
    response.headers.set('Access-Control-Allow-Origin', WEB)
    return response
  }
}

/** The part of a request of `node:http` and `node:http2` that is used. */
type NodeRequest = Pick<IncomingMessage, 'method' | 'rawHeaders' | 'url'>
type NodeResponse = Pick<ServerResponse, 'end' | 'setHeader' | 'statusCode'>

/** As the servers of other runtimes do: repeated headers come joined by commas. */
function requestOf({ method = 'GET', url = '/', rawHeaders }: NodeRequest): Request {
  const headers = new Headers()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2)
    if (!name.startsWith(':')) headers.append(name, value)
  }
  return new Request(`http://api.test${url}`, own({ method, headers }))
}

async function serve(handler: Handler, from: NodeRequest, to: NodeResponse): Promise<void> {
  try {
    const response = await handler(requestOf(from))
    to.statusCode = response.status
    for (const [name, value] of response.headers) to.setHeader(name, value)
    to.end(await response.text())
  } catch {
    // The platform cannot make a `Request` of it, or send the `Response`.
    to.statusCode = 500
    to.end()
  }
}

async function createApp(spec: AppSpec): Promise<Application> {
  const handler = createHandler(spec)
  const outermost = spec.cors === true ? withCors(handler) : handler
  return await listening((from, to) => void serve(outermost, from, to), spec)
}

export const request: Framework = {
  name: 'Request',
  createApp,
  createHttp2Server: async (verifier) => {
    const handler = createHandler({
      guards: [{ verifier }],
      routes: [{ path: '/', handle: () => ({}) }],
    })
    return await listeningOverHttp2(async (from, to) => {
      await serve(handler, from, to as unknown as NodeResponse)
    })
  },
}
