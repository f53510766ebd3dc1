// Reads the hooks of a scope, which Fastify runs ahead of the handlers of its routes.

/** In the order in which they run. */
export const FASTIFY_HOOKS = ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const

export type FastifyHook = (typeof FASTIFY_HOOKS)[number]

/** Fastify keeps them at the scope, with those of the scopes around it. `undefined` where it does not. */
export function hooksOf(
  scope: object,
): Readonly<Record<FastifyHook, readonly object[]>> | undefined {
  const symbol = symbolsOf(scope).find(({ description }) => description === 'fastify.hooks')
  const hooks: unknown = symbol === undefined ? undefined : Reflect.get(scope, symbol)
  return isHooks(hooks) ? hooks : undefined
}

/** Also of the scopes that it inherits from. */
function symbolsOf(scope: object): readonly symbol[] {
  const parent = Reflect.getPrototypeOf(scope)
  const own = Object.getOwnPropertySymbols(scope)
  return parent === null ? own : [...own, ...symbolsOf(parent)]
}

function isHooks(value: unknown): value is Readonly<Record<FastifyHook, readonly object[]>> {
  if (typeof value !== 'object' || value === null) return false
  return FASTIFY_HOOKS.every((name) => {
    const list: unknown = Reflect.get(value, name)
    return Array.isArray(list) && list.every((each) => typeof each === 'function')
  })
}
