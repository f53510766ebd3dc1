export type { Clock, Fetch, Input, Output, Surroundings } from './surroundings.ts'
export { run } from './program.ts'
export { systemClock } from './system-clock.ts'
