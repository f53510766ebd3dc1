import type { Framework } from '../../../frameworks/contract/frameworks/framework.ts'
import { adapters, frameworks } from '../../../frameworks/contract/frameworks/index.ts'
import { request } from '../../../frameworks/contract/frameworks/request.ts'
import { requestedRuns } from '../differential/runs.ts'

/** One framework of each adapter, whose sources are the same for all of them; with `ATTACKS_RUNS` all. */
export const TRIED: readonly Framework[] =
  requestedRuns === undefined
    ? [...adapters.flatMap((adapter) => adapter.frameworks.slice(0, 1)), request]
    : frameworks
