// The table of all metrics: what each is called, what it counts, its labels, and how values of several processes are put together.

/** How one value is made of those of several processes. */
type Aggregator = 'sum' | 'max' | 'min'

export interface MetricRow {
  readonly kind: 'counter' | 'gauge' | 'histogram'
  /** In the words of OpenTelemetry. `nameForPrometheus` makes the other name of it. */
  readonly name: string
  readonly unit?: 's'
  readonly help: string
  readonly labels: readonly string[]
  readonly aggregator: Aggregator
}

const counter = (name: string, labels: readonly string[], help: string): MetricRow => ({
  kind: 'counter',
  name: `portcullis.${name}`,
  help,
  labels,
  aggregator: 'sum',
})
const times = (name: string, labels: readonly string[], help: string): MetricRow => ({
  kind: 'histogram',
  name: `portcullis.${name}`,
  unit: 's',
  help,
  labels,
  aggregator: 'sum',
})
const gauge = (
  name: string,
  aggregator: Aggregator,
  help: string,
  more: { readonly unit?: 's'; readonly labels?: readonly string[] } = {},
): MetricRow => ({
  kind: 'gauge',
  name: `portcullis.${name}`,
  help,
  aggregator,
  ...more,
  labels: ['source', ...(more.labels ?? [])],
})

type Counted =
  | 'verdicts'
  | 'verifyTime'
  | 'refusals'
  | 'keyAttempts'
  | 'keyChanges'
  | 'introspections'
  | 'introspectionTime'
  | 'events'
  | 'logins'
  | 'loginTime'
  | 'replayFailures'
  | 'revocationEvents'

/** What happens is counted, as the diagnostics channels tell it. */
export const COUNTED: Readonly<Record<Counted, MetricRow>> = {
  verdicts: counter(
    'verdicts',
    ['source', 'code', 'reason', 'remembered'],
    'Tokens judged, by the code and the reason of the refusal',
  ),
  verifyTime: times('verify.duration', ['remembered'], 'Time from a token to its verdict'),
  refusals: counter(
    'refusals',
    ['framework', 'code', 'reason'],
    'Requests that a guard refused, by framework, code and reason',
  ),
  keyAttempts: counter(
    'key.attempts',
    ['source', 'trigger', 'outcome'],
    'Attempts to fetch keys, and snapshots of keys at start-up',
  ),
  keyChanges: counter('key.changes', ['source', 'change'], 'Keys that came and keys that left'),
  introspections: counter(
    'introspections',
    ['source', 'outcome'],
    'Calls of an introspection endpoint, by what came of them',
  ),
  introspectionTime: times(
    'introspection.duration',
    ['source'],
    'Time that a call of an introspection endpoint took',
  ),
  events: counter(
    'events',
    ['source', 'outcome', 'error'],
    'Log-outs and security events of a provider, by what became of them',
  ),
  logins: counter(
    'logins',
    ['source', 'kind', 'outcome'],
    'Log-ins and exchanges of a client, by what came of them',
  ),
  loginTime: times('login.duration', ['source', 'kind'], 'Time that a log-in or an exchange took'),
  replayFailures: counter(
    'replay.failures',
    ['source', 'reason'],
    'Proofs that could not be looked up in the memory of used proofs',
  ),
  revocationEvents: counter(
    'revocations.events',
    ['source', 'event', 'state'],
    'What a replica of revocations went through, and its state then',
  ),
}

type Measured =
  | 'keysAge'
  | 'keysUsable'
  | 'keysSkipped'
  | 'keysUntried'
  | 'keysFreshness'
  | 'keysFailing'
  | 'revocationsAge'
  | 'revocationsState'
  | 'revocationsCurrent'
  | 'revocationsEntries'
  | 'revocationsFailures'
  | 'pollFailures'

/** What is so at the moment of asking, as `status()` says it. */
export const MEASURED: Readonly<Record<Measured, MetricRow>> = {
  keysAge: gauge('keys.age', 'max', 'Time since the keys in use were fetched', { unit: 's' }),
  keysUsable: gauge('keys.usable', 'min', 'Keys that tokens can be judged by'),
  keysSkipped: gauge('keys.skipped', 'max', 'Entries of the key document that cannot be used'),
  keysUntried: gauge('keys.untried', 'max', 'Keys that are never tried: more than 8 fit a token'),
  keysFreshness: gauge('keys.freshness', 'max', '1 for how fresh the keys are, 0 for the others', {
    labels: ['state'],
  }),
  keysFailing: gauge(
    'keys.failing',
    'max',
    '1 while the last attempt to fetch keys has failed, else 0',
  ),
  revocationsAge: gauge(
    'revocations.age',
    'max',
    'The replica lacks nothing that was revoked longer ago',
    { unit: 's' },
  ),
  revocationsState: gauge(
    'revocations.state',
    'max',
    '1 for the state of the replica, 0 for the others',
    { labels: ['state'] },
  ),
  revocationsCurrent: gauge(
    'revocations.current',
    'min',
    '1 while the replica can tell what is not revoked, else 0',
  ),
  revocationsEntries: gauge(
    'revocations.entries',
    'max',
    'Revocations that the replica knows: at its option max it takes no more',
  ),
  revocationsFailures: gauge(
    'revocations.failures',
    'max',
    'Attempts in a row to read the revocations that failed',
  ),
  pollFailures: gauge('event.poll.failures', 'max', 'Polls for events in a row that failed'),
}

/** Upper bounds of the buckets of all histograms, in seconds. */
export const BUCKETS: readonly number[] = [0.00001, 0.0001, 0.0005, 0.001, 0.005, 0.05, 0.5, 5]

/** With the unit, and `_total` for what only grows: the conventions of Prometheus. */
export function nameForPrometheus({ name, unit, kind }: MetricRow): string {
  const seconds = unit === 's' ? '_seconds' : ''
  return `${name.replaceAll('.', '_')}${seconds}${kind === 'counter' ? '_total' : ''}`
}
