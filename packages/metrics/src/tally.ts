import { BUCKETS, type MetricRow } from './metrics.ts'

// Counts and sums of times, by labels. A request changes numbers in here alone: names are put to them when they are read.

/** What messages are made into. */
export interface Recorder {
  /** @param values Of the labels, in the order of the row. */
  readonly count: (row: MetricRow, values: readonly string[], by?: number) => void
  readonly time: (row: MetricRow, values: readonly string[], seconds: number) => void
}

/** What was counted with the same labels. */
export interface Cell {
  readonly values: readonly string[]
  count: number
  /** Of times: their sum, and how many are in each bucket; the last is for all that are longer. */
  sum: number
  readonly buckets: number[]
}

export interface Tally extends Recorder {
  readonly cells: (row: MetricRow) => readonly Cell[]
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
  let roots = new Map<MetricRow, Branch>()
  let lists = new Map<MetricRow, Cell[]>()

  function cellOf(row: MetricRow, values: readonly string[]): Cell {
    let branch = branchOf(roots, row)
    for (const value of values) branch = branchOf(branch.branches, value)
    if (branch.cell !== undefined) return branch.cell
    const buckets = row.kind === 'histogram' ? Array<number>(BUCKETS.length + 1).fill(0) : []
    branch.cell = { values: [...values], count: 0, sum: 0, buckets }
    const list = lists.get(row)
    if (list === undefined) lists.set(row, [branch.cell])
    else list.push(branch.cell)
    return branch.cell
  }

  return {
    count(row, values, by = 1) {
      cellOf(row, values).count += by
    },
    time(row, values, seconds) {
      const cell = cellOf(row, values)
      cell.count++
      cell.sum += seconds
      let at = 0
      while (at < BUCKETS.length && seconds > (BUCKETS[at] ?? 0)) at++
      cell.buckets[at] = (cell.buckets[at] ?? 0) + 1
    },
    cells: (row) => lists.get(row) ?? [],
    clear() {
      roots = new Map()
      lists = new Map()
    },
  }
}
