import * as common12 from '@nestjs/common'
import { APP_GUARD, NestFactory as NestFactory12 } from '@nestjs/core'
import { ExpressAdapter as ExpressAdapter12 } from '@nestjs/platform-express'
import { FastifyAdapter as FastifyAdapter12 } from '@nestjs/platform-fastify'
import { scope, type Verifier } from '@portcullis/core'
import * as adapter12 from '@portcullis/nest'
import * as routes12 from '@portcullis/nest/routes'
import * as nest11 from 'portcullis-test-nest11'

import type { Built, Trace } from './claim.ts'
import { connect } from './serving.ts'
import type { Item, RouteItem, Tree, Word } from './tree.ts'

// Random applications of Nest. A router is a controller, an application what the platform has beside them.

export const NEST_WORDS: readonly Word[] = [
  ...(['guard', 'guard', 'guard', 'optional', 'requirement', 'next', 'hide'] as const),
  // `@Public()`, `@OptionalAuth()`, and a class that extends the guard.
  ...(['skip', 'leave', 'swallow', 'answer'] as const),
]

export const NEST_PATHS = ['/', '/a', '/A', '/b', '/a/b', '/a/b/c', '/:p', '/a/:p', '/:p/b']

interface Major {
  readonly common: typeof common12
  readonly NestFactory: typeof NestFactory12
  readonly ExpressAdapter: typeof ExpressAdapter12
  readonly FastifyAdapter: typeof FastifyAdapter12
  readonly adapter: typeof adapter12
  readonly routes: typeof routes12
}

const major12: Major = {
  common: common12,
  NestFactory: NestFactory12,
  ExpressAdapter: ExpressAdapter12,
  FastifyAdapter: FastifyAdapter12,
  adapter: adapter12,
  routes: routes12,
}

/** What these trees use, both majors have alike, with types of their own. */
export const MAJORS = { 12: major12, 11: nest11 as unknown as Major }

type Class = new () => Record<string, unknown>
type Decorator = (target: never, name?: string, descriptor?: PropertyDescriptor) => unknown
type Next = () => void

export async function buildNest(
  { common, NestFactory, ExpressAdapter, FastifyAdapter, adapter, routes }: Major,
  isFastify: boolean,
  tree: Tree,
  verifier: Verifier,
): Promise<Built> {
  let trace: { handlers: string[]; acted: string[] } = { handlers: [], acted: [] }
  let count = 0
  const used = new Set<string>()
  const platform = isFastify ? new FastifyAdapter() : new ExpressAdapter()
  const { PortcullisGuard } = adapter
  const guard = new PortcullisGuard({ verifier })
  const optional = new PortcullisGuard({ verifier, optional: true })
  class Lenient extends PortcullisGuard {
    override async canActivate(): Promise<boolean> {
      return true
    }
  }
  class Wrapping {
    async canActivate(context: common12.ExecutionContext): Promise<boolean> {
      return context.getHandler().name.length % 2 === 0 || (await guard.canActivate(context))
    }
  }

  function numbered(kind: string): string {
    count += 1
    return `${kind}${count}`
  }

  function guardOf(word: Word): common12.CanActivate | undefined {
    if (word === 'guard') return guard
    if (word === 'optional') return optional
    if (word === 'swallow') return new Lenient({ verifier })
    if (word === 'hide') return new Wrapping()
    return word === 'next' ? { canActivate: () => true } : undefined
  }

  function decoratorOf(word: Word): Decorator {
    if (word === 'skip') return adapter.Public()
    if (word === 'leave') return adapter.OptionalAuth()
    if (word === 'requirement') return adapter.Requires(scope('r'))
    const made = guardOf(word)
    return common.UseGuards(...(made === undefined ? [] : [made]))
  }

  /** Of two that contradict each other the second is left out. */
  function decorate(words: readonly Word[], apply: (decorator: Decorator) => void): void {
    for (const word of words) {
      try {
        apply(decoratorOf(word))
      } catch (error) {
        if (!(error instanceof TypeError)) throw error
      }
    }
  }

  function isFree(method: string, path: string): boolean {
    const place = path.toLowerCase().replaceAll(/:\w+|(?<=.)\/$/g, '')
    // Fastify has each once, and one for HEAD beside each for GET.
    const keys = { get: ['get', 'head'], all: ['get', 'post', 'head', 'all'] }[method] ?? [method]
    if (keys.some((each) => used.has(`${each} ${place}`))) return false
    for (const each of keys) used.add(`${each} ${place}`)
    return true
  }

  function controllerOf(prefix: string, { items, isSensitive, isStrict }: Tree): Class {
    const name = numbered('Controller')
    const shown = items.flatMap((item) => (item.kind === 'route' ? [item] : []))
    const own = shown.filter((item) => isFree(item.method, join(prefix, item.path)))
    const methods = own.map((item) => ({ item, name: numbered('handler') }))
    const [first] = methods
    const isReplaced = isStrict && items.length % 2 === 0 && first !== undefined
    const made: Class = {
      [name]: class {
        constructor() {
          if (isReplaced) Object.assign(this, { [first.name]: answering(`${name}.${first.name}`) })
        }
      },
    }[name] as never
    for (const { item, name: method } of methods) addMethod(made, name, method, item)
    const uses = items.flatMap((item) => (item.kind === 'use' ? item.words : []))
    decorate(uses, (decorator) => decorator(made as never))
    const isForEach = isSensitive && items.length % 2 === 1
    const options = { path: prefix, ...(isForEach && { scope: common.Scope.REQUEST }) }
    common.Controller(options)(made)
    return made
  }

  function answering(name: string): () => string {
    return () => {
      trace.handlers.push(name)
      return 'answered'
    }
  }

  function addMethod(made: Class, owner: string, name: string, item: RouteItem): void {
    const { prototype } = made as { readonly prototype: object }
    Object.defineProperty(prototype, name, {
      value: answering(`${owner}.${name}`),
      configurable: true,
      writable: true,
    })
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name) ?? {}
    const verbs = { get: common.Get, post: common.Post, head: common.Head, all: common.All }
    verbs[item.method](item.path)(prototype, name, descriptor)
    decorate(item.words, (decorator) => decorator(prototype as never, name, descriptor))
  }

  function controllersOf(prefix: string, inner: Tree): readonly Class[] {
    const within = inner.items.flatMap((item) =>
      item.kind === 'router' ? controllersOf(join(prefix, item.path), item.tree) : [],
    )
    return [controllerOf(prefix, inner), ...within]
  }

  function addRaw({
    path,
    tree: inner,
  }: Item & { readonly path: string; readonly tree: Tree }): void {
    for (const item of inner.items) {
      if (item.kind !== 'route' || item.method === 'all') continue
      const place = join(path, item.path)
      if (!isFree(item.method, place)) continue
      const name = numbered('raw')
      const run = (_request: unknown, response: unknown): void => {
        trace.handlers.push(name)
        platform.reply(response as never, 'answered', 200)
      }
      platform[item.method](place, Object.defineProperty(run, 'name', { value: name }))
    }
  }

  /** Some functions of the application answer. */
  function functionOf(
    word: Word,
  ): (request: { url: string }, response: { end(): void }, next: Next) => void {
    const name = numbered(word)
    return Object.defineProperty(
      (request: { url: string }, response: { end(): void }, next: Next) => {
        if (word !== 'answer' || request.url.length % 3 !== 0) {
          next()
          return
        }
        trace.acted.push(name)
        response.end()
      },
      'name',
      { value: name },
    )
  }

  const words = tree.items.flatMap((item) => (item.kind === 'use' ? item.words.slice(0, 1) : []))
  const isByModule = tree.items.length % 2 === 0
  const isLate = tree.items.length % 3 === 0
  const global = words.slice(0, 1).flatMap((word) => guardOf(word) ?? [])
  class Root {}
  common.Module({
    controllers: [...controllersOf('/', tree)],
    providers: isByModule ? global.map((useValue) => ({ provide: APP_GUARD, useValue })) : [],
  })(Root)
  const app = await NestFactory.create(Root, platform as never, {
    logger: false,
    abortOnError: false,
  })
  if (!isByModule && !isLate) app.useGlobalGuards(...global)
  for (const word of words) app.use(functionOf(word))
  let hasRaw = false
  for (const item of tree.items) {
    if (item.kind !== 'application') continue
    hasRaw = true
    addRaw(item)
  }
  if (isLate) await app.init()
  if (!isByModule && isLate) app.useGlobalGuards(...global)
  const list = await routes.describeRoutes(app)
  await app.listen(0, '127.0.0.1')
  const client = connect(Number(new URL(await app.getUrl()).port))
  return {
    // What only Fastify has shows no name.
    list: isFastify && hasRaw ? { ...list, isComplete: false } : list,
    async ask(request): Promise<Trace> {
      trace = { handlers: [], acted: [] }
      await client.send(request)
      return trace
    },
    async close() {
      client.close()
      await app.close()
    },
  }
}

function join(prefix: string, path: string): string {
  return `${prefix === '/' ? '' : prefix}${path === '/' ? '' : path}` || '/'
}
