import { existsSync } from 'node:fs'

import { GUARDING } from '../../packages.ts'
import { adapterOf, fileOf } from './adapter-of.ts'
import type { Adapter, Framework } from './framework.ts'
import { request } from './request.ts'

/** Every package that guards the routes of a framework. `test/publishing/package.test.ts` fails if one is missing. */
export const adapters: readonly Adapter[] = await Promise.all(
  GUARDING.filter((folder) => existsSync(fileOf(folder))).map(adapterOf),
)

/** What every suite runs over: all majors of all adapters, and core without any. */
export const frameworks: readonly Framework[] = [
  ...adapters.flatMap((adapter) => adapter.frameworks),
  request,
]
