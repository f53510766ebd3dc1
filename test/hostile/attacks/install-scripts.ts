import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Manifest {
  readonly name?: string
  readonly version?: string
  readonly gypfile?: boolean
  readonly scripts?: Readonly<Record<string, unknown>>
}

/** What a package manager runs on a machine that only installs (a registry's package is not built, so `prepare` is not). */
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall']

/** The folder of each package that pnpm has put into a workspace. */
export function installedPackages(root: string): readonly string[] {
  return globSync(
    ['node_modules/.pnpm/*/node_modules/*', 'node_modules/.pnpm/*/node_modules/@*/*'],
    { cwd: root },
  )
    .map((folder) => join(root, folder))
    .filter((folder) => existsSync(join(folder, 'package.json')))
}

/** What the package in a folder would run when it is installed. */
export function installScriptsOf(folder: string): readonly string[] {
  const { scripts = {}, gypfile } = manifestOf(folder)
  const stated = INSTALL_SCRIPTS.filter((name) => Object.hasOwn(scripts, name))
  // An npm client builds what has this file, though no script says so.
  const isBuilt = gypfile !== false && existsSync(join(folder, 'binding.gyp'))
  return isBuilt ? [...stated, 'binding.gyp'] : stated
}

/** As the lockfile writes it. */
export function identityOf(folder: string): string {
  const { name, version } = manifestOf(folder)
  return `${name}@${version}`
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}
