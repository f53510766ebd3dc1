import { scope, type Verifier } from '@portcullis/core'
import { authenticate, authorize } from '@portcullis/hono'
import { describeRoutes } from '@portcullis/hono/routes'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { except, some } from 'hono/combine'

import type { Built, Trace } from './claim.ts'
import type { Item, Tree, Word } from './tree.ts'

// Random applications of Hono, in memory.

/** What it has of the words. */
export const HONO_WORDS: readonly Word[] = [
  'guard',
  'guard',
  'guard',
  'next',
  'next',
  'optional',
  'optional',
  'requirement',
  'answer',
  'hide',
  'skip',
  'leave',
]

export const HONO_PATHS =
  '/ /* /a /A /a/ /b /a/* /a/b /a/b/* /a/b/c /:p /a/:p /:p/b /a/:p? /a/:p{.+} /a* *'.split(' ')

export async function buildHono(tree: Tree, verifier: Verifier): Promise<Built> {
  let trace: { handlers: string[]; acted: string[] } = { handlers: [], acted: [] }
  let count = 0
  const guard: MiddlewareHandler = authenticate(verifier)
  const optional: MiddlewareHandler = authenticate(verifier, { optional: true })
  const requirement = authorize(scope('r'))

  function named<Made extends object>(kind: string, run: (name: string) => Made): Made {
    count += 1
    const name = `${kind}${count}`
    return Object.defineProperty(run(name), 'name', { value: name })
  }

  const functions: Readonly<Record<Word, () => MiddlewareHandler>> = {
    guard: () => guard,
    optional: () => optional,
    requirement: () => requirement,
    hide: () => named('hide', (): MiddlewareHandler => async (c, next) => await guard(c, next)),
    // Combinators that let strangers through to some paths.
    skip: () => except('/a/*', guard),
    leave: () => some((c: Context) => c.req.path.length % 2 === 0, guard),
    next: () =>
      named('next', (): MiddlewareHandler => async (_c, next) => {
        await next()
      }),
    rewrite: () => functions.next(),
    swallow: () => functions.next(),
    answer: () =>
      named('answer', (name): MiddlewareHandler => async (c, next) => {
        if (c.req.path.length % 3 !== 0) {
          await next()
          return undefined
        }
        trace.acted.push(name)
        return c.body(null)
      }),
  }

  function handlersOf(handler: 'answer' | 'next' | 'none'): readonly MiddlewareHandler[] {
    if (handler === 'none') return []
    if (handler === 'answer') {
      return [
        named('handler', (name): MiddlewareHandler => async (c) => {
          trace.handlers.push(name)
          return c.body(null)
        }),
      ]
    }
    return [
      named('handler', (name): MiddlewareHandler => async (_c, next) => {
        trace.handlers.push(name)
        await next()
      }),
    ]
  }

  function add(app: Hono, item: Item): void {
    if (item.kind === 'param') return
    if (item.kind === 'use') {
      for (const word of item.words) app.use(item.path ?? '*', functions[word]())
    } else if (item.kind === 'route') {
      const chain = [...item.words.map((word) => functions[word]()), ...handlersOf(item.handler)]
      const method = item.method.toUpperCase()
      for (const each of chain) app.on(method, item.path, each)
    } else {
      const inner = new Hono()
      if (item.kind === 'application') inner.onError((_error, c) => c.text('', 418))
      for (const each of item.tree.items) add(inner, each)
      app.route(item.path.replace(/[?*{].*$/, ''), inner)
    }
  }

  const app = new Hono({ strict: tree.isStrict })
  // As the default has it, which prints.
  app.onError((error, c) => ('getResponse' in error ? c.body(null, 401) : c.body(null, 500)))
  for (const each of tree.items) add(app, each)
  return {
    list: describeRoutes(app),
    async ask({ method, path }): Promise<Trace> {
      trace = { handlers: [], acted: [] }
      await app.request(`http://a.test${path}`, { method })
      return trace
    },
    close() {},
  }
}
