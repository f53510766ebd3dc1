/** Which imports of values each source of this package has; types may cross. test/architecture reads it. */
export const EDGES: Readonly<Record<string, readonly string[]>> = {
  request: [],
}
