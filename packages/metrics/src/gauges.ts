import { MEASURED, type MetricRow } from './metrics.ts'
import type { MeasuredKeys, NamedSources, MeasuredPoll, MeasuredRevocations } from './sources.ts'
import { FRESHNESS, REPLICA_STATES, wordIn } from './words.ts'

// Reads the gauges from what sources say of themselves.

/** One value, with the values of the labels in the order of the row. */
export interface Sample {
  readonly row: MetricRow
  readonly values: readonly string[]
  readonly value: number
}

/** What is so now. What is not known, such as the age of keys that there are none of, is left out. */
export function measureAll({ keys, revocations, polls }: NamedSources): readonly Sample[] {
  return [
    ...Object.entries(keys).flatMap(([name, source]) => ofKeys(name, source)),
    ...Object.entries(revocations).flatMap(([name, source]) => ofRevocations(name, source)),
    ...Object.entries(polls).flatMap(([name, source]) => ofPoll(name, source)),
  ]
}

function ofKeys(name: string, source: MeasuredKeys): readonly Sample[] {
  const { age, freshness, thumbprints, skippedKeys, untriedKeys, lastFailure } = source.status()
  const values = [name]
  return [
    ...known(MEASURED.keysAge, values, age),
    // Keys that have become too old are still there, and prove nothing.
    {
      row: MEASURED.keysUsable,
      values,
      value: freshness === 'empty' ? 0 : thumbprints.length,
    },
    { row: MEASURED.keysSkipped, values, value: skippedKeys },
    { row: MEASURED.keysUntried, values, value: untriedKeys },
    ...states(MEASURED.keysFreshness, name, FRESHNESS, freshness),
    { row: MEASURED.keysFailing, values, value: lastFailure === undefined ? 0 : 1 },
  ]
}

function ofRevocations(name: string, source: MeasuredRevocations): readonly Sample[] {
  const { age, state, entries, failures } = source.status()
  const values = [name]
  return [
    ...known(MEASURED.revocationsAge, values, age),
    { row: MEASURED.revocationsCurrent, values, value: state === 'current' ? 1 : 0 },
    { row: MEASURED.revocationsEntries, values, value: entries },
    { row: MEASURED.revocationsFailures, values, value: failures },
    ...states(MEASURED.revocationsState, name, REPLICA_STATES, state),
  ]
}

function ofPoll(name: string, source: MeasuredPoll): readonly Sample[] {
  return [{ row: MEASURED.pollFailures, values: [name], value: source.status().failures }]
}

function known(
  row: MetricRow,
  values: readonly string[],
  value: number | undefined,
): readonly Sample[] {
  return value === undefined ? [] : [{ row, values, value }]
}

/** A value for each word, so that the largest of several processes says which words hold in one of them. */
function states(
  row: MetricRow,
  name: string,
  words: ReadonlySet<string>,
  state: string,
): readonly Sample[] {
  const now = wordIn(words, state)
  const all = words.has(now) ? [...words] : [...words, now]
  return all.map((word) => ({ row, values: [name, word], value: word === now ? 1 : 0 }))
}
