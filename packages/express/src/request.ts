import type { Auth } from '@portcullis/core'

// Declares `request.auth` for TypeScript: `import '@portcullis/express/request'`. It exports nothing, and is imported by whoever
// wants it, because other packages declare the same property with other types.

declare global {
  // oxlint-disable-next-line typescript/no-namespace -- the name that @types/express merges its requests from
  namespace Express {
    interface Request {
      /** What the token of this request proves; `undefined` for an anonymous one on an optional route. */
      auth?: Auth | undefined
    }
  }
}
