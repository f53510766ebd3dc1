import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import {
  createServer as createServer2,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2'
import type { AddressInfo } from 'node:net'

import type {
  Auth,
  GuardOptions,
  ProtectedResourceMetadata,
  Requirement,
  Verifier,
} from '@portcullis/core'

export interface Guard {
  verifier: Verifier<unknown>
  options?: GuardOptions
}

/** What a handler sees of its request. */
export interface View {
  /** What the guard shows under this name, where the framework keeps such things. */
  property(name: string): unknown
  getAuth(verifier?: Verifier): Auth
  findAuth(verifier?: Verifier): Auth | undefined
}

export interface Guarded {
  guards?: readonly Guard[]
  requirements?: readonly Requirement[]
}

/** Is there for every method. */
export interface Route extends Guarded {
  path: string
  /** Returns the JSON to answer with, or a promise of it. */
  handle: (view: View) => unknown
}

export interface ScopeSpec extends Guarded {
  routes?: readonly Route[]
}

export interface AppSpec extends ScopeSpec {
  /** By prefix, which may be empty: Express and Koa call them routers, Fastify scopes. */
  routers?: Readonly<Record<string, ScopeSpec>>
  /** The framework's usual CORS middleware, for {@link WEB}, in front of everything. It answers preflights with 204. */
  cors?: boolean
  /** Is served in front of the guards. */
  metadata?: ProtectedResourceMetadata
  /** The application's own error handler: it sends what this answers, and no header of the error. */
  onError?: (error: unknown) => { status: number; body: unknown }
  /** Octets, as `node:http` takes it. */
  maxHeaderSize?: number
  /** Switches a framework's printing of errors on, where it is off or off for tests. */
  development?: boolean
  /** Switches it off, for handlers that throw on purpose. */
  silent?: boolean
}

export interface Application extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly server: Server
}

/**
 * One major of a framework, or one way to run it. What Node cannot read, Node answers: where a framework does by itself, its
 * application here leaves that to Node.
 */
export interface Framework {
  /** Begins with what `checkGuardOptions` is told to call it, in any case, and a space: `Koa 3`. */
  readonly name: string
  /** Listens on a free port of 127.0.0.1. */
  readonly createApp: (spec: AppSpec) => Promise<Application>
  /** The same over HTTP/2 without TLS, with one guard for everything and the path `/`. */
  readonly createHttp2Server: (verifier: Verifier) => Promise<Http2Server>
  /** Whether a guard is asked about routes that exist, and about nothing else. */
  readonly guardsRoutesAlone?: true
  /** Whether what {@link createApp} listens with breaks with any request of HTTP/2. */
  readonly breaksWithHttp2?: boolean
  /**
   * With which values any member of a polluted `Object.prototype` makes the framework fail every request, whoever guards it. They
   * are named as in test/hostile/attacks/pollution/values.ts.
   */
  readonly failsUnder?: readonly string[]
  /** The same of single names, with any value or with some: why the framework fails, if Node does not by itself. */
  readonly failsUnderNames?: Readonly<Record<string, string>>
}

/** An application that handles requests, also one that answers with a promise. */
export type Listener = (request: IncomingMessage, response: ServerResponse) => unknown

/** What is done wrong with a guard. test/frameworks/mistakes knows what a developer reads of each. */
export type Mistake =
  | 'a guard after the route'
  | 'authenticate is not called'
  | 'authenticate is registered and not called'
  | 'authorize is not called'
  | 'getAuth of the request'

/** An application whose routers, mounts or rewrites change the path of a request, with a guard that takes DPoP proofs. */
export interface Moved {
  /** Behind the name of the adapter's newest framework: `sees the path before rewriteUrl`. */
  readonly title: string
  /** @param guarding The options of its guard, for proofs whose URLs begin with this path. */
  readonly createListener: (
    verifier: Verifier,
    guarding: (prefix?: string) => GuardOptions,
  ) => Listener | Promise<Listener>
  /** What it answers to a request for a path with a proof for a path. */
  readonly answers: readonly (readonly [asked: string, proven: string, status: number])[]
}

/** A guard that a path leads to. A router may take for the same path what the mount of the guard takes for another one. */
interface Mount {
  /** Behind the name of the adapter's newest framework: `app.use('/v1', guard)`. */
  readonly title: string
  /** Guards `/v1/secret`, which answers 200. */
  readonly createListener: (verifier: Verifier) => Listener | Promise<Listener>
  /** Spellings that reach the handler without a token: the README says so. */
  readonly opens: readonly string[]
}

/** What guards routes, where functions do. */
interface GuardFunctions {
  readonly authenticate: (verifier: never) => unknown
  readonly authorize: (...requirements: never) => unknown
  /** Those that the framework allows. Types find many of them, so these have casts. */
  readonly mistakes: Readonly<
    Partial<Record<Mistake, (verifier: Verifier) => Listener | Promise<Listener>>>
  >
}

/** A package that guards the routes of a framework, and what every suite needs to know of it. */
export interface Adapter {
  /** Its folder under `packages`. Its example under `examples` has the same name. */
  readonly folder: string
  /** `null` for Nest, which has a module and decorators, and no order in which guards are added. */
  readonly functions: GuardFunctions | null
  /** What takes the options of the table in its README. */
  readonly takesOptions: (options: never) => unknown
  /** What the package has as peers, if that is not one package that is called like its folder. */
  readonly peers?: readonly string[]
  /** How the path that the client asked for is found where the framework shows handlers another one. */
  readonly moved: readonly Moved[]
  /** The ways to guard what is under a path. Empty for Nest, whose guards belong to handlers. */
  readonly mounts: readonly Mount[]
  /**
   * Code behind the first example of its README, so that it exports a listener of `node:http` as `app`. The line in which the
   * example listens is taken off.
   */
  readonly exampleEnding: string
  readonly frameworks: readonly Framework[]
}

/** An origin that CORS middleware lets in. */
export const WEB = 'https://web.test'

/** `authorize` does not compile with a list that may be empty. */
export function areSome(
  requirements: readonly Requirement[],
): requirements is readonly [Requirement, ...Requirement[]] {
  return requirements.length > 0
}

/** Sends what a handler returns, at once or later, and lets what it throws go to the framework. */
export function answer(handle: () => unknown, send: (body: unknown) => unknown): unknown {
  const body = handle()
  return body instanceof Promise ? body.then(send) : send(body)
}

export async function listening(
  listener: RequestListener,
  { maxHeaderSize }: AppSpec,
): Promise<Application> {
  const options = maxHeaderSize === undefined ? {} : { maxHeaderSize }
  const server = createServer(options, listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return application(server)
}

export async function listeningOverHttp2(
  listener: (request: Http2ServerRequest, response: Http2ServerResponse) => unknown,
): Promise<Http2Server> {
  const server = createServer2((request, response) => void listener(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

export function application(server: Server): Application {
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    server,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
