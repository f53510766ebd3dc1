import fastifyPlugin from 'fastify-plugin'

// How a guard must be given to Fastify, and what it says otherwise.

/** What Fastify itself reads of the options of `register`. */
const REGISTER_OPTIONS: ReadonlySet<string> = new Set([
  'prefix',
  'encapsulate',
  'logLevel',
  'logSerializers',
  'name',
])

/** Fastify calls a plugin that is used as a hook with a request, which must not pass. @throws TypeError */
export function checkRegistration(scope: unknown, registration: object = {}): void {
  if (!isScope(scope)) throw misuse('authenticate(verifier) is a plugin and no hook')
  const foreign = Object.keys(registration).find((name) => !REGISTER_OPTIONS.has(name))
  if (foreign !== undefined) {
    throw misuse(`the guard takes no options of register, such as ${JSON.stringify(foreign)}`)
  }
}

/** Such a hook gets a scope, as a plugin does. Fastify calls it as a method, and without the callback that a plugin gets. */
export function isOnRegister(self: unknown, scope: unknown, callback: unknown): boolean {
  return isScope(scope) && self !== undefined && typeof callback !== 'function'
}

/** A guard there would leave the outer scope open. Fastify ignores what such a hook rejects with, so the boot fails by a plugin. */
export function failBoot(scope: { register(plugin: () => Promise<void>): unknown }): void {
  const fault = misuse('authenticate(verifier) is a plugin and no hook for onRegister')
  scope.register(fastifyPlugin(async () => await Promise.reject(fault)))
}

export function misuse(fault: string): TypeError {
  // Mistake `…: write register(authenticate(verifier, options))`: In Fastify `authenticate` is a plugin: `await
  // app.register(authenticate(verifier))`.
  return new TypeError(`${fault}: write register(authenticate(verifier, options))`)
}

/** Whether it is an instance of Fastify, and no request. */
export function isScope(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'addHook' in value && 'register' in value
}
