import { type Attributes, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api'

import { listenTo } from './collecting.ts'
import { type CountedMetric, labelled } from './metric.ts'
import { INTROSPECTIONS, KEY_ATTEMPTS, LOGINS, VERDICTS } from './metrics.ts'
import { checkSources, type Sources } from './sources.ts'

// Spans of what waits for somebody else: each is made when it has ended, with the time at which it began.

export interface TraceOptions {
  /**
   * Also a span for each verdict: many, and each costs more than the verdict of a remembered token.
   * @default false
   */
  readonly verdicts?: boolean | undefined
}

type Labels = Readonly<Record<string, string>>

/** A span for each message that a metric counts: its attributes are the labels of the metric. */
type SpanRow = readonly [
  metric: CountedMetric,
  name: (labels: Labels) => string,
  isFailure: (labels: Labels) => boolean,
]

const CALLS: readonly SpanRow[] = [
  [KEY_ATTEMPTS, () => 'keys.fetch', ({ outcome }) => outcome !== 'success'],
  [INTROSPECTIONS, () => 'introspection', ({ outcome = '' }) => !/^(?:in)?active$/.test(outcome)],
  [LOGINS, ({ kind = '' }) => kind, ({ outcome }) => outcome !== 'success'],
]

// A bad token is no failure of ours.
const VERDICT: SpanRow = [
  VERDICTS,
  () => 'verify',
  ({ code = '' }) => code.endsWith('_unavailable'),
]

/**
 * One span for each attempt to fetch keys, each introspection, and each log-in or exchange of a client. Its parent is the span
 * that was active where it was caused. Attributes are words of the metrics; nothing of a token is among them.
 *
 * @param tracer Such as `trace.getTracer('portcullis')` of @opentelemetry/api.
 * @returns A function that ends it.
 * @throws TypeError for what is wrong or misspelt.
 */
export function traceOperations(
  tracer: Tracer,
  sources: Sources = {},
  options: TraceOptions = {},
): () => void {
  if (typeof Reflect.get(Object(tracer), 'startSpan') !== 'function') {
    // Mistake `traceOperations: the first argument must be`: Give a tracer of @opentelemetry/api.
    throw new TypeError(
      'traceOperations: the first argument must be a tracer of @opentelemetry/api',
    )
  }
  if (typeof options !== 'object' || (options as unknown) === null || Array.isArray(options)) {
    throw new TypeError('traceOperations: options must be an object')
  }
  const { verdicts = false, ...others } = options
  if (typeof verdicts !== 'boolean')
    // Mistake `traceOperations: verdicts must be true or false`: `{ verdicts: true }` makes a span for each verdict.
    throw new TypeError('traceOperations: verdicts must be true or false')
  const [unknown] = Object.keys(others)
  // Mistake `traceOperations: there is no option …`: `verdicts` is the only one.
  if (unknown !== undefined) throw new TypeError(`traceOperations: there is no option ${unknown}`)
  const { nameOf } = checkSources(sources)
  return listenTo(
    (verdicts ? [...CALLS, VERDICT] : CALLS).map((row) => {
      const [metric] = row
      const { channel, read } = metric
      const listen = (message: unknown) => {
        read(message, nameOf, (values) => {
          record(tracer, row, labelled(metric, values), message as Timed)
        })
      }
      return [channel, listen] as const
    }),
  )
}

/** Each message of these channels is one. */
interface Timed {
  /** Seconds. */
  readonly duration: number
  /** Of a client. */
  readonly requests?: number
}

function record(
  tracer: Tracer,
  [metric, name, isFailure]: SpanRow,
  labels: Labels,
  { duration, requests }: Timed,
): void {
  // Keys of a snapshot are asked of nobody.
  if (labels['trigger'] === 'snapshot') return
  const attributes: Attributes = {}
  for (const [label, word] of Object.entries(labels)) {
    // The kind is in the name.
    if (label === 'kind') continue
    attributes[`portcullis.${label}`] = label === 'remembered' ? word === 'true' : word
  }
  if (metric === LOGINS) attributes['portcullis.requests'] = requests
  const kind = metric === VERDICTS ? SpanKind.INTERNAL : SpanKind.CLIENT
  const end = Date.now()
  const startTime = end - duration * 1000
  const span = tracer.startSpan(`portcullis.${name(labels)}`, { kind, attributes, startTime })
  if (isFailure(labels)) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end(end)
}
