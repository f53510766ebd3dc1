// The version of this package. `pnpm release version` writes it, and a test compares it with package.json.

export const VERSION = '1.0.0-rc.1'
