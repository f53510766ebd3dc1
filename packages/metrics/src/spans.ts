import { SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api'
import type { LoginMessage } from '@portcullis/client'
import type { KeysMessage, VerifyMessage } from '@portcullis/core'
import type { IntrospectionMessage } from '@portcullis/introspection'

import { listenTo } from './listening.ts'
import { checkSources, type NamedSources, type Sources } from './sources.ts'
import {
  ATTEMPT_OUTCOMES,
  CODES,
  INTROSPECTION_OUTCOMES,
  LOGIN_KINDS,
  LOGIN_OUTCOMES,
  REASONS,
  TRIGGERS,
  wordIn,
} from './words.ts'

// Spans of what waits for somebody else: each is made when it has ended, with the time at which it began.

export interface TraceOptions {
  /**
   * Also a span for each verdict: many, and each costs more than the verdict of a remembered token.
   * @default false
   */
  readonly verdicts?: boolean | undefined
}

interface Ended {
  readonly name: string
  readonly kind: SpanKind
  readonly isFailure: boolean
  /** Seconds. */
  readonly duration: number
  readonly attributes: Readonly<Record<string, string | number | boolean>>
}

type Reader = (message: unknown) => Ended | undefined

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
    throw new TypeError(
      'traceOperations: the first argument must be a tracer of @opentelemetry/api',
    )
  }
  if (typeof options !== 'object' || (options as unknown) === null || Array.isArray(options)) {
    throw new TypeError('traceOperations: options must be an object')
  }
  const { verdicts = false, ...others } = options
  if (typeof verdicts !== 'boolean')
    throw new TypeError('traceOperations: verdicts must be true or false')
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw new TypeError(`traceOperations: there is no option ${unknown}`)
  const listeners = Object.entries(readersOf(checkSources(sources), verdicts)).map(
    ([name, read]) => {
      const listen = (message: unknown) => {
        const ended = read(message)
        if (ended !== undefined) record(tracer, ended)
      }
      return [name, listen] as const
    },
  )
  return listenTo(listeners)
}

function record(tracer: Tracer, { name, kind, isFailure, duration, attributes }: Ended): void {
  const end = Date.now()
  const span = tracer.startSpan(name, { kind, attributes, startTime: end - duration * 1000 })
  if (isFailure) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end(end)
}

// Each message is that of its channel.
function readersOf(
  { nameOf }: NamedSources,
  withVerdicts: boolean,
): Readonly<Record<string, Reader>> {
  const calls: Readonly<Record<string, Reader>> = {
    'portcullis:keys'(message) {
      const { source, trigger, outcome, duration } = message as KeysMessage
      if (trigger === 'snapshot') return undefined
      const attributes = {
        'portcullis.source': nameOf(source),
        'portcullis.trigger': wordIn(TRIGGERS, trigger),
        'portcullis.outcome': wordIn(ATTEMPT_OUTCOMES, outcome),
      }
      return call('portcullis.keys.fetch', duration, outcome !== 'success', attributes)
    },
    'portcullis:introspection'(message) {
      const { verifier, outcome, duration } = message as IntrospectionMessage
      const word = wordIn(INTROSPECTION_OUTCOMES, outcome)
      const attributes = { 'portcullis.source': nameOf(verifier), 'portcullis.outcome': word }
      const isFailure = word !== 'active' && word !== 'inactive'
      return call('portcullis.introspection', duration, isFailure, attributes)
    },
    'portcullis:login'(message) {
      const { client, kind, outcome, duration, requests } = message as LoginMessage
      const word = wordIn(LOGIN_KINDS, kind, 'login')
      const attributes = {
        'portcullis.source': nameOf(client),
        'portcullis.outcome': wordIn(LOGIN_OUTCOMES, outcome),
        'portcullis.requests': requests,
      }
      return call(`portcullis.${word}`, duration, outcome !== 'success', attributes)
    },
  }
  return withVerdicts ? { ...calls, 'portcullis:verify': verdictReader(nameOf) } : calls
}

function call(
  name: string,
  duration: number,
  isFailure: boolean,
  attributes: Ended['attributes'],
): Ended {
  return { name, kind: SpanKind.CLIENT, isFailure, duration, attributes }
}

function verdictReader(nameOf: NamedSources['nameOf']): Reader {
  return (message) => {
    const { verifier, code, reason, remembered, duration } = message as VerifyMessage
    const attributes = {
      'portcullis.source': nameOf(verifier),
      'portcullis.code': wordIn(CODES, code, 'accepted'),
      'portcullis.reason': wordIn(REASONS, reason),
      'portcullis.remembered': remembered,
    }
    return {
      name: 'portcullis.verify',
      kind: SpanKind.INTERNAL,
      // A bad token is no failure of ours.
      isFailure: code?.endsWith('_unavailable') === true,
      duration,
      attributes,
    }
  }
}
