import { deepEqual, equal } from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { asCandidate, FOLLOWING } from '../../migration/moved-names.ts'
import { mustRun } from '../packed/report.ts'
import { type Folder, mustType, type } from './folder.ts'

// An application of the candidate before becomes one of this release by the steps of UPGRADING.md, and goes back again.

/** What it imports, beside Nest and a compiler. */
const OURS = ['client', 'core', 'nest', 'redis', 'testing'].map((name) => `@portcullis/${name}`)
const OTHERS = '@nestjs/common @nestjs/core reflect-metadata rxjs'
const CHECK =
  'npx tsc --noEmit --module nodenext --types node --strict --skipLibCheck src/service.ts'

const path = join(import.meta.dirname, '..', '..', 'migration', 'candidate', 'after.ts')
const after = readFileSync(path, 'utf8')
const before = asCandidate(after)

/** @param former The version before. */
export async function upgradeAndBack(folder: Folder, former: string): Promise<void> {
  mkdirSync(join(folder.path, 'src'))
  writeFileSync(join(folder.path, 'package.json'), JSON.stringify({ type: 'module' }))
  const file = join(folder.path, 'src', 'service.ts')
  const install = async (tag: string) =>
    await mustType(
      `npm install ${OURS.map((name) => `${name}@${tag}`).join(' ')} ${OTHERS}`,
      folder,
    )

  writeFileSync(file, before)
  await install(former)
  await mustType('npm install --save-dev typescript@7 @types/node@22', folder)
  await runs(folder)

  await install('rc')
  equal((await type(CHECK, folder)).status === 0, false, 'the old names should not compile')
  await mustRun(['bash', '-euc', FOLLOWING], folder.path, folder.env)
  equal(readFileSync(file, 'utf8'), after)
  await runs(folder)
  await hasOneCore(folder)

  writeFileSync(file, before)
  await install(former)
  await runs(folder)
}

async function runs(folder: Folder): Promise<void> {
  await mustType(CHECK, folder)
  equal(await mustType('node src/service.ts', folder), 'ada function 503\n')
}

/** As `npm ls @portcullis/core` shows it. */
export async function hasOneCore({ path: cwd, env }: Folder): Promise<void> {
  const listed = await mustRun(['npm', 'ls', '@portcullis/core', '--all', '--parseable'], cwd, env)
  deepEqual(listed.trim().split('\n'), [join(cwd, 'node_modules', '@portcullis', 'core')])
}
