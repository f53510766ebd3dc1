import type { Routes } from '@portcullis/testing'

// Puts the parts together that share a port with the token service.

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
