import { scope, type Verifier } from '@portcullis/core'
import { authenticate, authorize } from '@portcullis/express'
import { describeRoutes } from '@portcullis/express/routes'
import type express from 'express'
import type { Request, Response } from 'express'

import type { Built, Trace } from './claim.ts'
import { serve } from './serving.ts'
import type { Item, Tree, Word } from './tree.ts'

// Random applications of Express, each with a server of its own.

type Next = (error?: unknown) => void
type Framework = typeof express
type Application = ReturnType<Framework>

export async function buildExpress(
  framework: Framework,
  isFour: boolean,
  tree: Tree,
  verifier: Verifier,
): Promise<Built> {
  let trace: { handlers: string[]; acted: string[] } = { handlers: [], acted: [] }
  let count = 0
  const guard = authenticate(verifier)
  const optional = authenticate(verifier, { optional: true })
  const requirement = authorize(scope('r'))

  function named(kind: string, run: (name: string) => unknown): never {
    count += 1
    const name = `${kind}${count}`
    return Object.defineProperty(run(name), 'name', { value: name }) as never
  }

  const functions: Readonly<Record<Word, () => never>> = {
    guard: () => guard as never,
    optional: () => optional as never,
    requirement: () => requirement as never,
    hide: () =>
      named('hide', () => (q: Request, s: Response, next: Next) => {
        guard(q, s, next)
      }),
    swallow: () =>
      named('swallow', () => (_e: unknown, _q: Request, _s: Response, next: Next) => {
        next()
      }),
    next: () => handingOn('next', undefined),
    leave: () => handingOn('leave', 'router'),
    skip: () => handingOn('skip', 'route'),
    answer: () => acting('answer'),
    rewrite: () => acting('rewrite'),
  }

  function handingOn(kind: Word, said: string | undefined): never {
    return named(kind, () => (_q: Request, _s: Response, next: Next) => {
      next(said)
    })
  }

  function acting(word: 'answer' | 'rewrite'): never {
    return named(word, (name) => (q: Request, s: Response, next: Next) => {
      act(word, name, q, s, next)
    })
  }

  function act(
    word: 'answer' | 'rewrite',
    name: string,
    q: Request,
    s: Response,
    next: Next,
  ): void {
    const { url } = q
    if (url.length % 3 !== 0 && !url.endsWith('x')) {
      next()
      return
    }
    trace.acted.push(name)
    if (word === 'answer') {
      s.end()
      return
    }
    q.url = '/a/b'
    next()
  }

  function handlerOf(handler: 'answer' | 'next' | 'none'): readonly never[] {
    if (handler === 'none') return []
    return [
      named('handler', (name) => (_q: Request, s: Response, next: Next) => {
        trace.handlers.push(name)
        if (handler === 'next') next()
        else s.end()
      }),
    ]
  }

  function add(router: Application, item: Item): void {
    const path = 'path' in item && item.path !== undefined ? patternOf(item.path) : '/'
    if (item.kind === 'use') router.use(path, ...item.words.map((word) => functions[word]()))
    else if (item.kind === 'param') router.param('p', paramOf(item.word))
    else if (item.kind === 'route') {
      const chain = [...item.words.map((word) => functions[word]()), ...handlerOf(item.handler)]
      if (chain.length > 0) router[item.method](path, ...(chain as [never]))
    } else {
      const { isSensitive: caseSensitive, isStrict: strict, items } = item.tree
      const inner =
        item.kind === 'router'
          ? framework.Router({ caseSensitive, strict })
          : applicationOf(item.tree)
      for (const each of items) add(inner as Application, each)
      router.use(path, inner as never)
    }
  }

  function paramOf(word: 'next' | 'answer' | 'skip'): never {
    return named('param', (name) => (q: Request, s: Response, next: Next) => {
      if (word === 'answer') act('answer', name, q, s, next)
      else next(word === 'skip' ? 'route' : undefined)
    })
  }

  function patternOf(path: string): string {
    return isFour ? path.replace('*w', '*') : path
  }

  function applicationOf({ isSensitive, isStrict }: Tree): Application {
    const made = framework()
    made.set('case sensitive routing', isSensitive)
    made.set('strict routing', isStrict)
    made.set('env', 'test')
    return made
  }

  const app = applicationOf(tree)
  for (const each of tree.items) add(app, each)
  const server = await serve(app as never)
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
