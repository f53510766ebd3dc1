import { spawnSync } from 'node:child_process'

import { describe } from 'vitest'

import { PROGRAM as REDIS } from '../redis/redis-server.ts'

const missing = ['prometheus', 'promtool', REDIS].filter(
  (program) => spawnSync(program, ['--version']).status !== 0,
)
const isSkipped = missing.length > 0 && process.env['CI'] === undefined
if (isSkipped) {
  console.warn(
    `Tests are skipped: no ${missing.join(', ')} here. On Debian: apt-get install prometheus ${REDIS}`,
  )
}

/** Tests with the real programs. In CI they fail where one is missing; elsewhere they are skipped, and a line says so. */
export const describeWithPrometheus = isSkipped ? describe.skip : describe
