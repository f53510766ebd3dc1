import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Which packages guard the routes of a framework, and which versions of frameworks they are tried with: read from manifests, so
// that nobody keeps a list.

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

export interface Dependencies {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  /** Who has one beside core that is not optional guards the routes of a framework. */
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

interface Manifest extends Dependencies {
  readonly description?: string
}

/** The folders of the packages that guard the routes of a framework. Their examples have the same names. */
export const GUARDING = globSync('packages/*/package.json', { cwd: root })
  .filter((path) => {
    const { peerDependencies = {}, peerDependenciesMeta = {} } = manifestAt(path)
    return Object.keys(peerDependencies).some(
      (peer) => peer !== '@portcullis/core' && peerDependenciesMeta[peer]?.optional !== true,
    )
  })
  .map((path) => path.split(/[/\\]/)[1] ?? '')
  .toSorted()

/** Those of which the framework's own types compile with `skipLibCheck` alone: so does the adapter. */
export const SKIPPING_LIB_CHECK = GUARDING.filter((folder) =>
  readFileSync(join(root, 'packages', folder, 'tsconfig.build.json'), 'utf8').includes(
    '"skipLibCheck": true',
  ),
)

/** What its package calls the framework in its description, such as `NestJS` in `Guards handlers of NestJS 12 with access tokens.` */
export function frameworkOf(folder: string): string {
  const { description = '' } = manifestAt(`packages/${folder}/package.json`)
  const [, framework] = /^Guards (?:routes|handlers) of (\S+) /.exec(description) ?? []
  if (framework === undefined) {
    throw new Error(
      `let the description in packages/${folder}/package.json begin with "Guards routes of", and the name of the framework`,
    )
  }
  return framework
}

/** By name: what the examples have from the catalog. */
export const FRAMEWORKS: Readonly<Record<string, string>> = Object.fromEntries(
  ['@types/node', ...GUARDING.flatMap(fromCatalog)].map((name) => [name, versionInCatalog(name)]),
)

function fromCatalog(folder: string): readonly string[] {
  return globSync(`examples/${folder}/package.json`, { cwd: root }).flatMap((path) => {
    const { dependencies, devDependencies } = manifestAt(path)
    const stated = Object.entries({ ...dependencies, ...devDependencies })
    return stated.flatMap(([name, version]) => (version === 'catalog:' ? [name] : []))
  })
}

/** What the catalog of the workspace says; empty for what is not in it. */
export function versionInCatalog(name: string): string {
  const catalog = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8')
  const [, version = ''] = new RegExp(`^  '?${name}'?: (.*)$`, 'm').exec(catalog) ?? []
  return version
}

function manifestAt(path: string): Manifest {
  return JSON.parse(readFileSync(join(root, path), 'utf8')) as Manifest
}
