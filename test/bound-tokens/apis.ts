import type { RequestListener } from 'node:http'

import type { GuardOptions, Verifier } from '@portcullis/core'

import type { Framework } from '../frameworks/contract/frameworks/framework.ts'
import { adapters } from '../frameworks/contract/frameworks/index.ts'

/** An API with one guard for all, which answers every method with the `client_id` of the token. */
export type CreateApi = (verifier: Verifier, options: GuardOptions) => Promise<RequestListener>

/** In the newest major of each framework. */
export const APIS: Readonly<Record<string, CreateApi>> = Object.fromEntries(
  adapters.flatMap(({ frameworks: [newest] }) =>
    newest === undefined ? [] : [[newest.name, createApiWith(newest)]],
  ),
)

function createApiWith({ createApp }: Framework): CreateApi {
  return async (verifier, options) => {
    const app = await createApp({
      guards: [{ verifier, options }],
      routes: ['/', '/v1/:place'].map((path) => ({
        path,
        handle: (view) => ({ client: view.findAuth()?.claims['client_id'] }),
      })),
    })
    // It is served elsewhere, also over TLS: its own server is not needed.
    await app[Symbol.asyncDispose]()
    return (request, response) => void app.server.emit('request', request, response)
  }
}
