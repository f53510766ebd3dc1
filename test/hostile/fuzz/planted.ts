import fc from 'fast-check'

import { runJob } from './child.ts'

// Targets with faults, for the test of the fuzzer.

const inputs = fc.string({ unit: fc.constantFrom('a', 'b', '\uD800') })
let isDamaged = false

/** In the place of memory that an input has damaged: the process dies when garbage is collected, or much later. */
globalThis.gc = async () => {
  if (isDamaged) process.abort()
}

let executions = 0

await runJob({
  sound: { inputs, run: () => undefined },
  aborts: {
    inputs,
    run(input) {
      if (input.startsWith('\uD800a\uD800')) process.abort()
    },
  },
  damages: {
    inputs,
    run(input) {
      isDamaged ||= input.startsWith('\uD800a\uD800')
      if (isDamaged && ++executions > 30) process.abort()
    },
  },
  breaks: {
    inputs,
    run(input) {
      if (input.startsWith('\uD800a\uD800')) throw new Error('planted')
    },
  },
})
