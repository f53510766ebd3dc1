/** Which imports of values each source of this package has; types may cross. test/architecture reads it. */
export const EDGES: Readonly<Record<string, readonly string[]>> = {
  gauges: ['metrics', 'words'],
  health: [],
  index: ['health', 'status'],
  metrics: [],
  opentelemetry: ['gauges', 'metrics', 'sources', 'spans', 'subscriptions', 'tally'],
  prometheus: ['gauges', 'metrics', 'sources', 'subscriptions', 'tally'],
  sources: ['words'],
  spans: ['@opentelemetry/api', 'listening', 'sources', 'words'],
  status: ['sources'],
  subscriptions: ['listening', 'metrics', 'words'],
  tally: ['metrics'],
  words: ['refusal-words'],
  'refusal-words': [],
  listening: ['node:diagnostics_channel'],
}
