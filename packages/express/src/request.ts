import type { Auth } from '@portcullis/core'

// Declares `req.auth` for TypeScript. Opt-in, because other packages declare the same property with other types.

declare global {
  // oxlint-disable-next-line typescript/no-namespace -- the name that @types/express merges its requests from
  namespace Express {
    interface Request {
      /** What the token of this request proves; `undefined` for an anonymous one on an optional route. */
      auth?: Auth | undefined
    }
  }
}
