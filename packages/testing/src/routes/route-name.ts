import type { Route } from '@portcullis/kit/route-list'

// How a route is named in assertions.

/** As users write it in their tests. */
export function nameOf({ method, path }: Route): string {
  return `${method} ${path}`
}
