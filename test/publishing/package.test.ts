import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { VERSION } from '../../packages/core/src/ground/version.ts'
import { adapters } from '../frameworks/contract/frameworks/index.ts'
import { FRAMEWORKS, versionInCatalog } from '../frameworks/packages.ts'
import { manifestPaths } from './published.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

type Exports = Record<string, string | Record<string, string>>

interface Manifest {
  name: string
  private?: boolean
  type?: string
  license?: string
  sideEffects?: boolean
  engines?: { node?: string }
  files?: string[]
  scripts?: Record<string, string>
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
  publishConfig?: { access?: string; provenance?: boolean; exports?: Exports }
  main?: string
  types?: string
  typesVersions?: Record<string, Record<string, string[]>>
  exports?: Exports
}

const ofAdapters = (listOf: (folder: string) => readonly string[]) =>
  Object.fromEntries(adapters.map(({ folder }) => [`@portcullis/${folder}`, listOf(folder)]))

/** Every run-time dependency of a published package. An entry here is a decision. Of ours, only a program has some: others have core as a peer. */
const DEPENDENCIES: Readonly<Record<string, readonly string[]>> = {
  ...ofAdapters(() => []),
  '@portcullis/cli': [
    '@portcullis/core',
    '@portcullis/introspection',
    '@portcullis/redis',
    '@portcullis/testing',
    'commander',
    // For the pages of `serve`: its templates escape all that is put into them.
    'hono',
    // What `try` runs beside our guard.
    'jose',
  ],
  // For the entry `oauth` alone.
  '@portcullis/client': ['oauth4webapi'],
  '@portcullis/core': ['jose', 'lru-cache'],
  '@portcullis/events': [],
  '@portcullis/fastify': ['fastify-plugin'],
  '@portcullis/introspection': ['lru-cache', 'oauth4webapi'],
  '@portcullis/mcp': ['lru-cache'],
  // It reads what the others publish, and imports none of them.
  '@portcullis/metrics': [],
  '@portcullis/providers': [],
  '@portcullis/redis': ['@redis/client'],
  '@portcullis/testing': ['jose'],
}

/** What is published beside the README, the CHANGELOG, the licence, SKILL.md, what a reviewer asks for, and the code. Guides are read in the repository. */
const DOCUMENTS: Readonly<Record<string, readonly string[]>> = {
  ...ofAdapters((folder) => (folder === 'nest' ? [] : ['MIGRATING.md'])),
  // For the browser, neither compiled nor bundled; and for editors.
  '@portcullis/cli': ['browser', '!browser/tsconfig.json', 'serve.schema.json'],
  // Programs print places in the first two.
  '@portcullis/core': ['ERRORS.md', 'OPERATING.md', 'pictures/alarms.svg'],
  '@portcullis/metrics': ['alerts.yml', 'dashboard.json'],
}

/** Who takes and makes objects of core: a copy of its own, where npm puts one, would not know those of the user. docs/identities.md */
const BESIDE_CORE: ReadonlySet<string> = new Set([
  ...adapters.map(({ folder }) => `@portcullis/${folder}`),
  '@portcullis/events',
  '@portcullis/introspection',
  '@portcullis/mcp',
  '@portcullis/providers',
  '@portcullis/redis',
  '@portcullis/testing',
])

/** The framework, which the user has already. */
const PEERS: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  adapters.map(({ folder, peers = [folder] }) => [`@portcullis/${folder}`, peers]),
)

/** Of these the user takes one, or none. */
const OPTIONAL_PEERS: Readonly<Record<string, readonly string[]>> = {
  // Its types fit both majors of the SDK, and it imports neither.
  '@portcullis/mcp': ['@modelcontextprotocol/sdk', '@modelcontextprotocol/server'],
  '@portcullis/metrics': ['@opentelemetry/api', 'prom-client'],
}

const manifests = manifestPaths.map((path) => JSON.parse(read(path)) as Manifest)

test('the published packages are these', () => {
  expect(
    manifests.map(({ name }) => name).toSorted(),
    'write test/frameworks/contract/frameworks/NAME.ts for an adapter; add another one to DEPENDENCIES in test/publishing/package.test.ts',
  ).toEqual(Object.keys(DEPENDENCIES).toSorted())
})

test.each(manifests)('$name depends on nothing that is not listed', (manifest) => {
  const { name, dependencies = {}, peerDependencies = {} } = manifest
  expect(Object.keys(dependencies), 'DEPENDENCIES in test/publishing/package.test.ts').toEqual(
    DEPENDENCIES[name],
  )
  expect(
    Object.keys(peerDependencies),
    '`peers` of its table in test/frameworks/contract/frameworks, and BESIDE_CORE',
  ).toEqual(
    [
      ...(PEERS[name] ?? OPTIONAL_PEERS[name] ?? []),
      ...(BESIDE_CORE.has(name) ? ['@portcullis/core'] : []),
    ].toSorted(),
  )
  const optional = Object.keys(manifest.peerDependenciesMeta ?? {})
  expect(optional).toEqual(OPTIONAL_PEERS[name] ?? [])
  expect(manifest).not.toHaveProperty('optionalDependencies')
  expect(manifest).not.toHaveProperty('bundleDependencies')
})

const foreign = Object.entries(DEPENDENCIES).flatMap(([owner, names]) =>
  names
    .filter((name) => !name.startsWith('@portcullis/'))
    .map((name) => ({ owner: owner.replace('@portcullis/', ''), name })),
)

test.each(foreign)(
  '$name, a dependency of $owner, has no dependency of its own',
  ({ owner, name }) => {
    const path = join(root, 'packages', owner, 'node_modules', name, 'package.json')
    const {
      dependencies = {},
      optionalDependencies = {},
      peerDependencies = {},
      peerDependenciesMeta = {},
    } = JSON.parse(readFileSync(path, 'utf8')) as Manifest
    // No package manager installs an optional peer.
    const peers = Object.keys(peerDependencies).filter(
      (peer) => peerDependenciesMeta[peer]?.optional !== true,
    )
    expect([dependencies, optionalDependencies].flatMap(Object.keys)).toEqual([])
    expect(peers).toEqual([])
  },
)

test.each(foreign)('$name, a dependency of $owner, is pinned exactly', ({ owner, name }) => {
  const { dependencies = {} } = JSON.parse(read(`packages/${owner}/package.json`)) as Manifest
  const stated = dependencies[name] ?? ''
  // `pnpm pack` writes what the catalog has.
  expect(stated === 'catalog:' ? versionInCatalog(name) : stated).toMatch(/^\d+\.\d+\.\d+$/)
})

test.each(manifests)('$name is ready to publish', (manifest) => {
  expect(manifest).toMatchObject({
    type: 'module',
    license: 'MIT',
    sideEffects: false,
    engines: { node: '^20.19.0 || ^22.13.0 || >=24' },
    files: [
      'CHANGELOG.md',
      'SKILL.md',
      'SECURITY.md',
      'sbom.cdx.json',
      ...(DOCUMENTS[manifest.name] ?? []),
      'dist',
    ],
    publishConfig: { access: 'public', provenance: true },
  })
  expect(manifest.private).toBeUndefined()
  expect(manifest.scripts).toBeUndefined()
  expect(manifest.exports).toHaveProperty(['./package.json'], './package.json')
})

const folders = manifestPaths.map((path) => basename(dirname(path)))
const imported = folders.filter((folder) => folder !== 'cli') // a program, which nobody imports
/** Who has a framework as a peer that it cannot do without guards its routes. */
const guarding = manifests
  .filter(({ name, peerDependencies = {} }) => {
    const peers = Object.keys(peerDependencies).filter((peer) => peer !== '@portcullis/core')
    return peers.length > 0 && !(name in OPTIONAL_PEERS)
  })
  .map(({ name }) => name.replace('@portcullis/', ''))
  .toSorted()

test('every package with guards is in the table of frameworks, and so in every suite', () => {
  expect(
    adapters.map(({ folder }) => folder).toSorted(),
    'write test/frameworks/contract/frameworks/NAME.ts',
  ).toEqual(guarding)
})

// What cannot take its list from the table of frameworks.
test.each<[path: string, names: readonly string[], entry: (folder: string) => string]>([
  ['README.md', folders, (folder) => `| [\`@portcullis/${folder}\`](packages/${folder}/README.md)`],
  [
    'test/hostile/mutation/stryker.config.json',
    adapters.map(({ folder }) => folder),
    (folder) => folder,
  ],
  [
    'test/hostile/mutation/vitest.config.ts',
    adapters.map(({ folder }) => folder),
    (folder) => folder,
  ],
  ['test/package.json', imported, (folder) => `"@portcullis/${folder}": "workspace:^"`],
  [
    'packages/core/README.md',
    adapters.flatMap(({ frameworks: [newest] }) => newest?.name.split(' ')[0] ?? []),
    (name) => name,
  ],
])('%s names every package that it should', (path, names, entry) => {
  const text = read(path)
  const missing = names.map(entry).filter((each) => !text.includes(each))
  expect(missing, `add these to ${path}`).toEqual([])
})

test.each(Object.entries(PEERS))('the packed %s is tried with its peers', (name, peers) => {
  const path = `examples/${name.replace('@portcullis/', '')}/package.json`
  expect(Object.keys(FRAMEWORKS), `let ${path} have these from the catalog`).toEqual(
    expect.arrayContaining([...peers]),
  )
})

test.each(imported)('what %s exports has been reviewed', (folder) => {
  const path = `docs/api/${folder}.api.md`
  expect(existsSync(join(root, path)), `run pnpm write, which writes ${path}`).toBe(true)
})

test.each(folders)('%s has been released, or a changeset announces it', (folder) => {
  const announced = globSync('.changeset/*.md', { cwd: root }).some((path) =>
    read(path).includes(`'@portcullis/${folder}': major\n`),
  )
  const wasReleased = existsSync(join(root, 'packages', folder, 'CHANGELOG.md'))
  expect(
    announced || wasReleased,
    `write a file in .changeset that says '@portcullis/${folder}': major, for its 1.0.0`,
  ).toBe(true)
})

/** Each has a counterpart for every other framework, from which it can be written. */
test.each(
  guarding.flatMap((folder) => [
    `examples/${folder}/package.json`,
    `examples/${folder}/src/server.ts`,
    `test/frameworks/apps/${folder}.ts`,
    `test/frameworks/drop-in/${folder}.test.ts`,
    `test/publishing/packed/consumer/guards/${folder}.ts`,
  ]),
)('there is %s', (path) => {
  expect(existsSync(join(root, path)), `write ${path}`).toBe(true)
})

test.each(manifests)(
  '$name is published without its sources',
  ({ exports = {}, publishConfig }) => {
    const published = Object.entries(exports).map(([entry, target]) => {
      if (typeof target === 'string') return [entry, target]
      const { '@portcullis/source': source, ...conditions } = target
      expect(source).toMatch(/^\.\/src\/.*\.ts$/)
      return [entry, conditions]
    })
    expect(publishConfig?.exports).toEqual(Object.fromEntries(published))
  },
)

// TypeScript with `module: commonjs` reads `main`, `types` and `typesVersions`, and no `exports`.
test.each(manifests)('$name is found by what does not read its exports', (manifest) => {
  const { exports: { '.': index, './package.json': _, ...others } = {} } = manifest
  // Who has none is a program.
  const stated = (index ?? {}) as Record<string, string>
  expect({ types: stated['types'], main: stated['default'] }).toEqual({
    types: manifest.types,
    main: manifest.main,
  })
  const found = Object.entries(others).map(([entry, target]): [string, unknown] => {
    const types = typeof target === 'string' ? undefined : target['types']
    return [entry.replace('./', ''), [types]]
  })
  const { '*': versions = {} } = manifest.typesVersions ?? {}
  expect(new Map(Object.entries(versions))).toEqual(new Map(found))
})

test('core says which version it is, for a message about two copies', () => {
  const { version } = JSON.parse(read('packages/core/package.json')) as { version?: string }
  expect(VERSION, 'run pnpm release version').toBe(version)
})

test('the lockfile names no host', () => {
  expect(read('pnpm-lock.yaml')).not.toMatch(/https?:\/\//)
})

test('the version of pnpm is stated once: CI reads it, and the documents name its major', () => {
  const { packageManager = '' } = JSON.parse(read('package.json')) as { packageManager?: string }
  expect(packageManager).toMatch(/^pnpm@\d+\.\d+\.\d+(?:\+|$)/)
  expect(read('.ci/run')).not.toMatch(/pnpm@/)
  const named = ['README.md', 'CONTRIBUTING.md', 'RELEASING.md', 'SECURITY.md'].flatMap(
    (path) => read(path).match(/\bpnpm@[\d.]*\d/g) ?? [],
  )
  expect(new Set(named)).toEqual(new Set([packageManager.split('.')[0]]))
})

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}
