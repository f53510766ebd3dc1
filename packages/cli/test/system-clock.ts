export { systemClock } from '../src/system-clock.ts'
