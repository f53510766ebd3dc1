import { spawnSync } from 'node:child_process'

import { describe, vi } from 'vitest'

import { PROGRAM } from './redis-server.ts'

const isInstalled = spawnSync(PROGRAM, ['--version']).status === 0
const isSkipped = !isInstalled && process.env['CI'] === undefined
if (isSkipped) {
  console.warn(
    `Tests are skipped: no ${PROGRAM} here. On Debian it comes by apt-get install ${PROGRAM}`,
  )
}

// They wait for real time, several of them at once.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

/** Tests with a real server. In CI they fail where it is missing; elsewhere they are skipped, and a line says so. */
export const describeWithRedis = isSkipped ? describe.skip : describe
