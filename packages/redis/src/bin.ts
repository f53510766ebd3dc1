#!/usr/bin/env node
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

import { run } from './program/program.ts'
import { redisTransport } from './store/redis-transport.ts'

// The process of `portcullis-revocations`: its arguments, environment and streams. No other file of it reads them.

// Whoever reads a pipe may go: that is a failure of the command, not of the process.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
const write = promisify((text: string, done: (error?: Error | null) => void) => {
  process.stdout.write(text, done)
})

process.exitCode = await run(process.argv.slice(2), {
  connect: (source) => redisTransport(source),
  environment: process.env,
  input: createInterface({ input: process.stdin }),
  print: async (line) => {
    await write(`${line}\n`)
  },
  say: (line) => process.stderr.write(`${line}\n`),
})
process.stdin.destroy()
