#!/usr/bin/env node
import { platformFetch } from '@portcullis/kit/http'
import { systemClock } from '@portcullis/kit/time'

import { run } from './program/program.ts'

// The process: its arguments, environment, streams and signals. No other file of the program reads them.

const interrupted = new AbortController()
// The second is what containers and process managers send.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    // A terminal shows ^C, and what comes next belongs on a line of its own.
    if (signal === 'SIGINT' && process.stderr.isTTY) process.stderr.write('\n')
    interrupted.abort()
  })
}
// A reader that has had enough, such as `head`, is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(0)
})

const exitCode = await run({
  args: process.argv.slice(2),
  env: process.env,
  cwd: process.cwd(),
  // Node opens it when it is read, and the overview does not read it.
  get stdin() {
    return process.stdin
  },
  stdout: process.stdout,
  stderr: process.stderr,
  fetch: platformFetch,
  clock: systemClock,
  signal: interrupted.signal,
})

// What is still under way when somebody has interrupted it, such as reading stdin, is of no use any more.
if (interrupted.signal.aborted) process.exit(exitCode)
process.exitCode = exitCode
