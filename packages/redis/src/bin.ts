#!/usr/bin/env node
import { createInterface } from 'node:readline'

import { run } from './program.ts'
import { redisTransport } from './redis-transport.ts'

process.exitCode = await run(process.argv.slice(2), {
  connect: (url) => redisTransport({ url }),
  environment: process.env,
  input: createInterface({ input: process.stdin }),
  print: (line) => process.stdout.write(`${line}\n`),
  say: (line) => process.stderr.write(`${line}\n`),
})
process.stdin.destroy()
