// Everything that `@portcullis/metrics` exports: what needs no package for metrics.

export { createHealth } from './health.ts'
export type { Health, HealthOptions } from './health.ts'
export type {
  MeasuredClient,
  MeasuredKeys,
  MeasuredPoll,
  MeasuredRevocations,
  Sources,
} from './sources.ts'
export { statusOf } from './status.ts'
export type { Clock } from '@portcullis/kit/time'
