import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { parseJson } from '@portcullis/kit/json'

import { memberOf } from '../input/unread-json.ts'
import { type Checked, findPackage, ifThere, readManifest } from './installed.ts'
import { isInRange } from './version-range.ts'

// The check of `doctor` about TypeScript. It asks the compiler of the folder for its settings, and reads no tsconfig.json itself.

/** Seconds. */
const TIMEOUT = 20

export async function checkTypeScript(folder: string): Promise<readonly Checked[]> {
  const compiler = await findPackage('typescript', folder)
  if (compiler === undefined || !(await ifThere(stat(join(folder, 'tsconfig.json'))))) {
    const text = 'no tsconfig.json, or no compiler, in this folder'
    return [{ name: 'typescript', outcome: 'skipped', text }]
  }
  const { version, path } = compiler
  const settings = await settingsOf(folder, path)
  if (settings === undefined) {
    return [{ name: 'typescript', outcome: 'note', text: `${version}: tsc --showConfig failed` }]
  }
  const manifest = await readManifest(folder)
  const isModule = memberOf(manifest, 'type') === 'module'
  return [judgeSettings(version, settings, isModule)]
}

export function judgeSettings(
  version: string,
  { module, moduleResolution }: Readonly<Record<string, string | undefined>>,
  isModule: boolean,
): Checked {
  const name = 'typescript'
  const said = `${version}, module ${module ?? 'not stated'}, moduleResolution ${moduleResolution ?? 'not stated'}`
  const problem = (text: string) =>
    ({ name, outcome: 'problem', text: `${said}: ${text}` }) as const
  if (moduleResolution === 'classic') return problem('packages are not found; take nodenext')
  if (!isModule && /^node1[68]$/.test(module ?? '')) {
    return problem('CommonJS cannot import ES modules so (TS1479); take nodenext')
  }
  if (isInRange(version, '>=5.9') === false) {
    return { name, outcome: 'note', text: `${said}: tested with 5.9, 6 and 7` }
  }
  return { name, outcome: 'ok', text: said }
}

/** `extends` and comments are the compiler's business. */
async function settingsOf(folder: string, compiler: string) {
  const tsc = join(compiler, 'bin', 'tsc')
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [tsc, '--showConfig'], {
      cwd: folder,
      timeout: TIMEOUT * 1000,
    })
    const options = memberOf(parseJson(stdout), 'compilerOptions')
    return {
      module: lower(options, 'module'),
      moduleResolution: lower(options, 'moduleResolution'),
    }
  } catch {
    // It says more than fits in a line; whoever compiles sees it.
  }
  return undefined
}

function lower(options: unknown, name: string): string | undefined {
  const value = memberOf(options, name)
  return typeof value === 'string' ? value.toLowerCase() : undefined
}
