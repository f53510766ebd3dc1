import { Router } from '@koa/router'
import { scope, type Verifier } from '@portcullis/core'
import { authenticate, authorize } from '@portcullis/koa'
import { describeRoutes } from '@portcullis/koa/routes'
import Koa, { type Context, type Middleware, type Next } from 'koa'

import type { Built, Trace } from './claim.ts'
import { serve } from './serving.ts'
import type { Item, Tree, Word } from './tree.ts'

// Random applications of Koa with @koa/router, each with a server of its own.

export async function buildKoa(tree: Tree, verifier: Verifier): Promise<Built> {
  let trace: { handlers: string[]; acted: string[] } = { handlers: [], acted: [] }
  let count = 0
  const guard = authenticate(verifier) as Middleware
  const optional = authenticate(verifier, { optional: true }) as Middleware
  const requirement = authorize(scope('r')) as Middleware

  function named<Made extends object>(kind: string, run: (name: string) => Made): Made {
    count += 1
    const name = `${kind}${count}`
    return Object.defineProperty(run(name), 'name', { value: name })
  }

  async function act(name: string, ctx: Context, next: Next): Promise<void> {
    if (ctx.path.length % 3 !== 0) {
      await next()
      return
    }
    trace.acted.push(name)
    ctx.status = 204
  }

  const handOn = (word: Word) => (): Middleware =>
    named(word, () => async (_ctx: Context, next: Next) => {
      await next()
    })
  const functions: Readonly<Record<Word, () => Middleware>> = {
    guard: () => guard,
    optional: () => optional,
    requirement: () => requirement,
    hide: () =>
      named('hide', () => async (ctx: Context, next: Next) => {
        await guard(ctx, next)
      }),
    next: handOn('next'),
    leave: handOn('leave'),
    skip: handOn('skip'),
    answer: () =>
      named('answer', (name) => async (ctx: Context, next: Next) => await act(name, ctx, next)),
    // Of all that follows, before it is looked up.
    rewrite: () =>
      named('rewrite', (name) => async (ctx: Context, next: Next) => {
        if (ctx.path.endsWith('x')) {
          ctx.path = '/a/b'
          trace.acted.push(name)
        }
        await next()
      }),
    swallow: () =>
      named('swallow', () => async (ctx: Context, next: Next) => {
        try {
          await next()
        } catch {
          ctx.status = 418
        }
      }),
  }

  function handlersOf(handler: 'answer' | 'next' | 'none'): readonly Middleware[] {
    if (handler === 'none') return []
    return [
      named('handler', (name) => async (ctx: Context, next: Next) => {
        trace.handlers.push(name)
        if (handler === 'next') await next()
        else ctx.status = 204
      }),
    ]
  }

  function add(router: Router, item: Item): void {
    if (item.kind === 'param') {
      const word = item.word
      router.param(
        'p',
        named('param', (name) => async (_value: string, ctx: Context, next: Next) => {
          if (word === 'answer') await act(name, ctx, next)
          else await next()
        }) as never,
      )
    } else if (item.kind === 'use') {
      const made = item.words.map((word) => functions[word]()) as never[]
      if (item.path === undefined) router.use(...made)
      else router.use(item.path, ...made)
    } else if (item.kind === 'route') {
      const chain = [...item.words.map((word) => functions[word]()), ...handlersOf(item.handler)]
      if (chain.length > 0) router[item.method](item.path, ...(chain as [never]))
    } else {
      const path = item.path.replace(/\/?\*.*$|\/$/, '') || '/m'
      const inner = routerOf(item.tree, item.kind === 'application')
      try {
        router.use(path, inner.routes() as never)
      } catch (error) {
        // @koa/router can make no pattern of some mounts with parameters.
        if (!(error instanceof TypeError)) throw error
      }
    }
  }

  function routerOf({ isSensitive, isStrict, items }: Tree, hasPrefix: boolean): Router {
    const router = new Router({
      sensitive: isSensitive,
      strict: isStrict,
      ...(hasPrefix && { prefix: '/a' }),
    })
    for (const each of items) add(router, each)
    return router
  }

  const app = new Koa()
  app.silent = true
  // What follows one another at the top: functions, and routers between them.
  for (const each of tree.items) {
    if (each.kind === 'use' && each.path === undefined) {
      for (const word of each.words) app.use(functions[word]())
    } else
      app.use(
        routerOf({ ...tree, items: [each, ...tree.items.slice(-3)] }, false).routes() as never,
      )
  }
  const answer = app.callback()
  const server = await serve((request, response) => {
    void answer(request, response)
  })
  return {
    list: describeRoutes(app),
    async ask(request): Promise<Trace> {
      trace = { handlers: [], acted: [] }
      await server.send(request)
      return trace
    },
    close: async () => {
      await server.close()
    },
  }
}
