import type { Server } from 'node:http'

// Not `import type`, which CommonJS programs may write with an attribute alone.
import { type Verifier } from '@portcullis/core'

// What the file of each framework exports as `guarded`: an application as its README says, with the types of the framework.

/** It listens on a free port of 127.0.0.1, or it answers a `Request`. */
export type Served = Server | { fetch(request: Request): Response | Promise<Response> }

/**
 * An application with one route, `/`, which answers with the `sub` of a token that has the scope `read`.
 *
 * @param onRefusal Gets the reason, and the path as what the framework gives to `onRefusal` has it.
 */
export type Guarded = (
  verifier: Verifier,
  onRefusal: (reason: string, path: string) => void,
) => Served | Promise<Served>
