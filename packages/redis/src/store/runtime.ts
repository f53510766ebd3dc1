// Where a connection can be kept: not on a runtime that ends it with the request that opened it.

/** A copy that nobody keeps up to date still says that it is current. @param instead What to use there. @throws TypeError on Workers. */
export function checkRuntime(
  factory: string,
  instead: string,
  userAgent: unknown = Reflect.get(Object(globalThis.navigator), 'userAgent'),
): void {
  if (userAgent !== 'Cloudflare-Workers') return
  // Mistake `…: Cloudflare Workers end a connection`: Nothing could be read behind a request, and a revoked token would be
  // accepted. Write a `Revocations` whose `statusOf` asks a store at each request, such as a KV namespace; for DPoP proofs a
  // `ReplayMemory` whose `remember` asks a Durable Object.
  throw new TypeError(
    `${factory}: Cloudflare Workers end a connection with the request that opened it, so use ${instead}`,
  )
}
