import { join } from 'node:path'

// The package managers that users have, and what a line for npm in a README is for each of them.

type Command = readonly string[]

export interface Manager {
  readonly name: string
  /** What a folder has to have before the first package, by name. */
  readonly files: Readonly<Record<string, string>>
  /** The same, where TypeScript 7 compiles. */
  readonly filesForCompilers?: Readonly<Record<string, string>>
  /** What comes before the names of packages. */
  readonly add: Command
  readonly addForDevelopment: Command
  /** Runs Node where it finds the packages. */
  readonly node: Command
  /** Runs a program that a package has brought. */
  readonly run: Command
  /** Runs a package from the registry, without a project. */
  readonly once: Command
}

/** What a folder needs to have them; npm is there. A rehearsal compares them, so they change when somebody raises them. */
export const MANAGER_PACKAGES: Readonly<Record<string, string>> = {
  pnpm: '12.21.0',
  '@yarnpkg/cli-dist': '4.18.1',
  // The package `bun` runs a script when it is installed.
  'bun-here': `npm:@oven/bun-${process.platform}-${process.arch === 'arm64' ? 'aarch64' : process.arch}@1.4.4`,
}

/** Of .yarnrc.yml. */
const APPROVED = "npmPreapprovedPackages: ['@portcullis/*']\n"

/** @param tools The folder that has these packages. */
export function managersIn(tools: string): readonly Manager[] {
  const pnpm = join(tools, 'node_modules', '.bin', 'pnpm')
  const yarn = join(tools, 'node_modules', '.bin', 'yarn')
  const bun = join(tools, 'node_modules', 'bun-here', 'bin', 'bun')
  return [
    {
      name: 'npm',
      files: {},
      add: ['npm', 'install'],
      addForDevelopment: ['npm', 'install', '--save-dev'],
      node: ['node'],
      run: ['npx'],
      once: ['npx'],
    },
    {
      name: 'pnpm',
      files: {},
      add: [pnpm, 'add'],
      addForDevelopment: [pnpm, 'add', '--save-dev'],
      node: ['node'],
      run: [pnpm, 'exec'],
      once: [pnpm, 'dlx'],
    },
    {
      name: 'yarn',
      // It wants a project, and holds back for a day what is new: the README says so.
      files: { 'package.json': '{}', '.yarnrc.yml': APPROVED },
      // Which reads no archives.
      filesForCompilers: {
        'package.json': '{}',
        '.yarnrc.yml': `${APPROVED}nodeLinker: node-modules\n`,
      },
      add: [yarn, 'add'],
      addForDevelopment: [yarn, 'add', '--dev'],
      // It puts no packages beside the application: Node alone finds none.
      node: [yarn, 'node'],
      run: [yarn, 'run'],
      once: [yarn, 'dlx'],
    },
    {
      name: 'bun',
      files: {},
      add: [bun, 'add'],
      addForDevelopment: [bun, 'add', '--dev'],
      node: ['node'],
      run: [bun, 'run'],
      once: [bun, 'x'],
    },
  ]
}
