import type { Routes } from '@portcullis/testing'

/**
 * What the port of the token service has beside it, in the order in which it is asked: the control interface, and a place for
 * pages.
 */
export function createSite(parts: readonly Routes[]): Routes {
  return async (request, signal, address) => {
    for (const part of parts) {
      const response = await part(request, signal, address)
      if (response !== undefined) return response
    }
    return undefined
  }
}
