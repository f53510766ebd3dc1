export { systemClock } from '../src/surroundings/system-clock.ts'
