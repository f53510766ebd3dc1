/** Which imports of values each source of this package has; types may cross. test/architecture reads it. */
export const EDGES: Readonly<Record<string, readonly string[]>> = {
  index: [
    '@portcullis/core',
    '@portcullis/core/adapter',
    'fastify-plugin',
    'registration',
    'route',
  ],
  route: [],
  registration: ['fastify-plugin'],
}
