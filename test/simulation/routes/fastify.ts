import { scope, type Verifier } from '@portcullis/core'
import { authenticate, authorize } from '@portcullis/fastify'
import { describeRoutes, noteRoutes } from '@portcullis/fastify/routes'
import type fastify from 'fastify'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import type { Built, Trace } from './claim.ts'
import type { Item, RouteItem, Tree, Word } from './tree.ts'

// Random applications of Fastify, in memory. A mount is a scope with a prefix, and what stands in a chain is a hook.

/** What it has of the words. A guard is a plugin, and stands in scopes alone. */
export const FASTIFY_WORDS: readonly Word[] = [
  ...(['guard', 'guard', 'optional', 'requirement', 'next', 'next', 'answer', 'hide'] as const),
]

export const FASTIFY_PATHS = [
  '/',
  '/a',
  '/A',
  '/b',
  '/a/b',
  '/a/b/c',
  '/:p',
  '/a/:p',
  '/:p/b',
  '/a/*',
]

export async function buildFastify(
  framework: typeof fastify,
  isFour: boolean,
  tree: Tree,
  verifier: Verifier,
): Promise<Built> {
  let trace: { handlers: string[]; acted: string[] } = { handlers: [], acted: [] }
  let count = 0
  const used = new Set<string>()
  const guard = authenticate(verifier)
  const optional = authenticate(verifier, { optional: true })
  const requirement = authorize(scope('r'))

  function named<Made extends object>(kind: string, run: (name: string) => Made): Made {
    count += 1
    const name = `${kind}${count}`
    return Object.defineProperty(run(name), 'name', { value: name })
  }

  type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
  function hookOf(word: Word): Hook {
    if (word === 'requirement') return requirement
    if (word !== 'answer') return named('next', () => async () => {})
    return named('answer', (name) => async (request: FastifyRequest, reply: FastifyReply) => {
      if (request.url.length % 3 !== 0) return undefined
      trace.acted.push(name)
      return await reply.code(204).send()
    })
  }

  function addRoute(app: FastifyInstance, { method, path, words, handler }: RouteItem): void {
    const answer = named(
      'handler',
      (name) => async (_request: FastifyRequest, reply: FastifyReply) => {
        trace.handlers.push(name)
        return await reply.code(204).send()
      },
    )
    const options = {
      exposeHeadRoute: false,
      onRequest: words.filter((word) => word !== 'requirement').map(hookOf),
      preHandler: words.filter((word) => word === 'requirement').map(hookOf),
      config: handler === 'next' ? { auth: false as const } : {},
    }
    // Each can be had once, and Fastify does not take back what it has of one that it refuses.
    const place = `${app.prefix}${path}`.toLowerCase().replaceAll(/:\w+|(?<=.)\/$/g, '')
    const keys = (method === 'all' ? ['get', 'post'] : [method]).map((each) => `${each} ${place}`)
    if (keys.some((each) => used.has(each))) return
    for (const each of keys) used.add(each)
    if (method === 'all')
      app.route({ ...options, method: ['GET', 'POST'], url: path, handler: answer })
    else app[method](path, options, answer)
  }

  async function add(app: FastifyInstance, item: Item): Promise<void> {
    if (item.kind === 'param') return
    if (item.kind === 'route') addRoute(app, item)
    else if (item.kind === 'use') {
      for (const word of item.words) {
        if (word === 'guard') await app.register(guard)
        else if (word === 'optional') await app.register(optional)
        else app.addHook('onRequest', hookOf(word))
      }
    } else {
      const prefix = item.path.replace(/\/?\*$|\/$/, '')
      await app.register(async (inner) => await addAll(inner, item.tree), { prefix })
    }
  }

  async function addAll(app: FastifyInstance, { items }: Tree): Promise<void> {
    for (const each of items) await add(app, each)
  }

  const routerOptions = { caseSensitive: tree.isSensitive, ignoreTrailingSlash: !tree.isStrict }
  const app = framework((isFour ? routerOptions : { routerOptions }) as object)
  // Some routes are there before.
  const isLate = tree.items.length % 4 === 0
  const [first, ...others] = tree.items
  if (!isLate) noteRoutes(app)
  if (first !== undefined) await add(app, first)
  if (isLate) noteRoutes(app)
  await addAll(app, { ...tree, items: others })
  await app.ready()
  const list = describeRoutes(app)
  return {
    // What was there before has no name.
    list: isLate ? { ...list, isComplete: false } : list,
    async ask({ method, path }): Promise<Trace> {
      trace = { handlers: [], acted: [] }
      await app.inject({ method, url: path })
      return trace
    },
    close: async () => {
      await app.close()
    },
  }
}
