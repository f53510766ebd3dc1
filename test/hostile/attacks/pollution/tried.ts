import type { Framework } from '../../../frameworks/contract/frameworks/framework.ts'
import { adapters, frameworks } from '../../../frameworks/contract/frameworks/index.ts'
import { request } from '../../../frameworks/contract/frameworks/request.ts'
import { requestedRuns } from '../differential/runs.ts'
import { VALUES } from './values.ts'

/** One framework of each adapter, whose sources are the same for all of them; with `ATTACKS_RUNS` all. */
export const TRIED: readonly Framework[] =
  requestedRuns === undefined
    ? [...adapters.flatMap((adapter) => adapter.frameworks.slice(0, 1)), request]
    : frameworks

/** Values that say yes and no, one that has members, and one that can be called; with `ATTACKS_RUNS` all. */
export const TRIED_VALUES: readonly string[] =
  requestedRuns === undefined ? ['true', 'false', 'an object', 'a function'] : Object.keys(VALUES)
