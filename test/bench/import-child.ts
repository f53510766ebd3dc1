import { performance } from 'node:perf_hooks'

// One import, in a fresh process, in the project where the packages are: node import-child.ts FRAMEWORKS MODULES, both in
// JSON. A framework is imported before, since an application has it anyway. Its answer is one line of JSON.

/** Milliseconds. */
export interface Import {
  readonly elapsed: number
  /** CPU time of all threads. */
  readonly cpu: number
}

const [frameworks = [], modules = []] = process.argv
  .slice(2)
  .map((list) => JSON.parse(list) as string[]) // written by packages.ts
for (const name of frameworks) await import(name)
const before = performance.now()
const cpuBefore = process.cpuUsage()
for (const name of modules) await import(name)
const { user, system } = process.cpuUsage(cpuBefore)
const answer: Import = { elapsed: performance.now() - before, cpu: (user + system) / 1000 }
console.log(JSON.stringify(answer))
