import type { WaitingRefusals } from '../src/waiting.ts'

/** What a room refuses with. */
export const REFUSALS: WaitingRefusals = {
  whenFull: () => new Error('full'),
  whenLate: (patience) => new Error(`late after ${patience} s`),
}
