import { channel } from 'node:diagnostics_channel'

import { BUCKETS, type CountedMetric, type MeasuredMetric } from './metric.ts'
import { COUNTED } from './metrics.ts'
import type { NamedSources } from './sources.ts'

// Collects the values of metrics: from diagnostics channels, where counts are kept, and from what sources say of themselves.

/** What was counted with the same labels. */
export interface Cell {
  readonly values: readonly string[]
  count: number
  /** Of times: their sum, and how many are in each bucket; the last is for all that are longer. */
  sum: number
  readonly buckets: number[]
}

/** Counts and sums of times, by labels. A request changes numbers in here alone: names are put to them when they are read. */
export interface Tally {
  readonly add: (metric: CountedMetric, values: readonly string[], amount: number) => void
  readonly cells: (metric: CountedMetric) => readonly Cell[]
  /** Begins again at 0. */
  readonly clear: () => void
}

/** Maps in maps: to find a cell costs no new string. */
interface Branch {
  readonly branches: Map<string, Branch>
  cell: Cell | undefined
}

function branchOf<Key>(branches: Map<Key, Branch>, key: Key): Branch {
  const found = branches.get(key)
  if (found !== undefined) return found
  const branch: Branch = { branches: new Map(), cell: undefined }
  branches.set(key, branch)
  return branch
}

export function createTally(): Tally {
  const roots = new Map<CountedMetric, Branch>()
  const lists = new Map<CountedMetric, Cell[]>()

  function cellOf(metric: CountedMetric, values: readonly string[]): Cell {
    let branch = branchOf(roots, metric)
    for (const value of values) branch = branchOf(branch.branches, value)
    if (branch.cell !== undefined) return branch.cell
    const buckets = metric.kind === 'histogram' ? Array<number>(BUCKETS.length + 1).fill(0) : []
    branch.cell = { values: [...values], count: 0, sum: 0, buckets }
    lists.set(metric, [...(lists.get(metric) ?? []), branch.cell])
    return branch.cell
  }

  return {
    add(metric, values, amount) {
      const cell = cellOf(metric, values)
      if (metric.kind === 'counter') {
        cell.count += amount
        return
      }
      cell.count++
      cell.sum += amount
      let at = 0
      while (at < BUCKETS.length && amount > (BUCKETS[at] ?? 0)) at++
      cell.buckets[at] = (cell.buckets[at] ?? 0) + 1
    },
    cells: (metric) => lists.get(metric) ?? [],
    clear() {
      roots.clear()
      lists.clear()
    },
  }
}

/** Hands on all that is counted. Returns a function that ends it. */
export function collectCounts({ nameOf }: NamedSources, add: Tally['add']): () => void {
  return listenTo(
    COUNTED.map((metric) => {
      const addTo = add.bind(undefined, metric)
      const listen = (message: unknown) => {
        metric.read(message, nameOf, addTo)
      }
      return [metric.channel, listen] as const
    }),
  )
}

/** Reads a metric of each source that has a name. */
export type Measure = (
  metric: MeasuredMetric,
) => readonly { readonly values: readonly string[]; readonly value: number }[]

/** For one moment: each source says once what is so, however many metrics are read of it. */
export function createMeasure(sources: NamedSources): Measure {
  const statuses = new Map<MeasuredMetric['of'], readonly (readonly [string, object])[]>()

  function statusesOf(of: MeasuredMetric['of']) {
    const known = statuses.get(of)
    if (known !== undefined) return known
    const each = Object.entries<{ status(): object }>(sources[of])
    const said = each.map(([name, source]) => [name, source.status()] as const)
    statuses.set(of, said)
    return said
  }

  return ({ of, read }) =>
    statusesOf(of).flatMap(([name, status]) =>
      read(status).map(([label, value]) => ({ values: [name, ...label], value })),
    )
}

type Listener = (message: unknown) => void

/**
 * Node throws what a listener throws where nobody catches it, and the process ends: so a listener that fails, such as by the meter that it was
 * given, is a warning. @returns A function that ends it.
 */
export function listenTo(
  listeners: readonly (readonly [name: string, listen: Listener])[],
): () => void {
  const all = listeners.map(([name, listen]) => [name, harmless(listen)] as const)
  for (const [name, listen] of all) channel(name).subscribe(listen)
  return () => {
    for (const [name, listen] of all) channel(name).unsubscribe(listen)
  }
}

function harmless(listen: Listener): Listener {
  return (message) => {
    try {
      listen(message)
    } catch (fault) {
      process.emitWarning(fault instanceof Error ? fault : 'a listener of metrics failed')
    }
  }
}
