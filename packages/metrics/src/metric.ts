import type { NamedSources, StatusOf } from './sources.ts'
import { wordIn, type Words } from './words.ts'

// What a metric is, whoever reads it: its description, and how its values come from messages or from statuses.

const HELP = {
  verdicts: 'Tokens judged, by the code and the reason of the refusal',
  'verify.duration': 'Time from a token to its verdict',
  refusals: 'Requests that a guard refused, by framework, code and reason',
  'key.attempts': 'Attempts to fetch keys, and snapshots of keys at start-up',
  'key.changes': 'Keys that came and keys that left',
  introspections: 'Calls of an introspection endpoint, by what came of them',
  'introspection.duration': 'Time that a call of an introspection endpoint took',
  events: 'Log-outs and security events of a provider, by what became of them',
  logins: 'Log-ins and exchanges of a client, by what came of them',
  'login.duration': 'Time that a log-in or an exchange took',
  'replay.failures': 'Proofs that could not be looked up in the memory of used proofs',
  'revocations.events': 'What a replica of revocations went through, and its state then',
  'keys.age': 'Time since the keys in use were fetched',
  'keys.usable':
    'Keys that tokens can be judged by: 0 before the first request, and an hour after the last one',
  'keys.skipped': 'Entries of the key document that cannot be used',
  'keys.untried': 'Keys that are never tried: more than 8 fit a token',
  'keys.freshness': '1 for how fresh the keys are, 0 for the others',
  'keys.failing': '1 while the last attempt to fetch keys has failed, else 0',
  'revocations.age': 'The replica lacks nothing that was revoked longer ago',
  'revocations.state': '1 for the state of the replica, 0 for the others',
  'revocations.current': '1 while the replica can tell what is not revoked, else 0',
  'revocations.entries': 'Revocations that the replica knows: at its option max it takes no more',
  'revocations.failures': 'Attempts in a row to read the revocations that failed',
  'event.poll.failures': 'Polls for events in a row that failed',
} as const

type Name = keyof typeof HELP

interface Described {
  /** In the words of OpenTelemetry. `nameForPrometheus` makes the other name of it. */
  readonly name: string
  readonly unit: 's' | undefined
  readonly help: string
  readonly labels: readonly string[]
  /** How one value is made of those of several processes. */
  readonly aggregator: 'sum' | 'max' | 'min'
}

function described(name: Name) {
  const unit = /\.(?:age|duration)$/.test(name) ? 's' : undefined
  return { name: `portcullis.${name}`, unit, help: HELP[name] } as const
}

/** What happens is counted, as a diagnostics channel tells it. Of a message only words of lists become labels. */
export interface CountedMetric extends Described {
  readonly kind: 'counter' | 'histogram'
  readonly channel: string
  /** @param add Takes the values of the labels in their order, and how many; of a histogram, the seconds. */
  readonly read: (
    message: unknown,
    nameOf: NamedSources['nameOf'],
    add: (values: readonly string[], amount: number) => void,
  ) => void
}

/** What is so at the moment of asking, as `status()` says it. */
export interface MeasuredMetric extends Described {
  readonly kind: 'gauge'
  readonly of: keyof StatusOf
  /** One value, or one for each value of the label behind the source; none for what is not known. */
  readonly read: (status: unknown) => readonly (readonly [label: string[], value: number])[]
}

export type Metric = CountedMetric | MeasuredMetric

/** Each is called as the member of the message that it is read from. */
type Labels<Message> = { readonly [Member in keyof Message & string]?: Words }

/** @param source Which member becomes the label `source`, if one does. */
export function counter<Message>(
  name: Name,
  channel: string,
  source: (keyof Message & string) | '',
  words: Labels<Message>,
): CountedMetric {
  const lists = Object.entries<Words | undefined>(words)
  return {
    ...described(name),
    kind: 'counter',
    channel: `portcullis:${channel}`,
    labels: [...(source === '' ? [] : ['source']), ...lists.map(([label]) => label)],
    aggregator: 'sum',
    read(message, nameOf, add) {
      const said = message as Readonly<Record<string, unknown>> // of that channel
      const values = source === '' ? [] : [nameOf(said[source])]
      for (const [label, list] of lists) if (list) values.push(wordIn(list, said[label]))
      add(values, 1)
    },
  }
}

export function times<Message extends { readonly duration: number }>(
  ...row: Parameters<typeof counter<Message>>
): CountedMetric {
  const counted = counter(...row)
  return {
    ...counted,
    kind: 'histogram',
    read(message, nameOf, add) {
      counted.read(message, nameOf, (values) => {
        add(values, (message as Message).duration)
      })
    },
  }
}

export function gauge<Of extends keyof StatusOf>(
  name: Name,
  of: Of,
  aggregator: 'max' | 'min',
  read: (status: StatusOf[Of]) => number | undefined,
): MeasuredMetric {
  return {
    ...described(name),
    kind: 'gauge',
    of,
    labels: ['source'],
    aggregator,
    read(status) {
      const value = read(status as StatusOf[Of]) // of that kind
      return value === undefined ? [] : [[[], value]]
    },
  }
}

/** 1 for the word that holds, and 0 for the others: so the largest of several processes says which words hold in one of them. */
export function states<Of extends keyof StatusOf>(
  name: Name,
  of: Of,
  known: Words,
  read: (status: StatusOf[Of]) => string,
): MeasuredMetric {
  return {
    ...gauge(name, of, 'max', () => undefined),
    labels: ['source', 'state'],
    read(status) {
      const now = wordIn(known, read(status as StatusOf[Of])) // of that kind
      return [...new Set([...Object.keys(known.words), now])].map((word) => [
        [word],
        word === now ? 1 : 0,
      ])
    },
  }
}

/** Upper bounds of the buckets of all histograms, in seconds. */
export const BUCKETS: readonly number[] = [0.00001, 0.0001, 0.0005, 0.001, 0.005, 0.05, 0.5, 5]

/** With the unit, and `_total` for what only grows: the conventions of Prometheus. */
export function nameForPrometheus({ name, unit, kind }: Metric): string {
  const seconds = unit === 's' ? '_seconds' : ''
  return `${name.replaceAll('.', '_')}${seconds}${kind === 'counter' ? '_total' : ''}`
}

export function labelled({ labels }: Metric, values: readonly string[]): Record<string, string> {
  return Object.fromEntries(labels.map((label, at) => [label, values[at] ?? '']))
}
