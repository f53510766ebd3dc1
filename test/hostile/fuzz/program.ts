import { runJob } from './child.ts'
import { targets } from './targets/index.ts'

await runJob(targets)
