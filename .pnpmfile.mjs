// What pnpm writes into a package when it packs: nothing of what only its own tests and its build need.

export const hooks = {
  /** @param {object} manifest */
  beforePacking: (manifest) => ({ ...manifest, devDependencies: undefined }),
}
