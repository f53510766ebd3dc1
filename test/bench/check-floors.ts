import { describeLimit, type Figures, type Floor, isWithin, missedFloors } from './floors.ts'
import { markdownTable } from './table.ts'

// What a bench says of its goals, and `--check` of its floors.

/** Looks up to three times before it complains: a busy machine may spoil a figure, but hardly the same one each time. */
export async function checkFloors(
  floors: readonly Floor[],
  measure: () => Promise<Figures>,
): Promise<void> {
  let missing = floors
  for (const attempt of ['first', 'second', 'third']) {
    const figures = await measure()
    const rows = missing.flatMap(({ figure, floor }) =>
      floor === undefined
        ? []
        : [[figure, describeLimit(floor), figures.get(figure)?.toFixed(3) ?? '']],
    )
    console.log(markdownTable(['Figure', 'floor', 'measured'], rows))
    missing = missing.filter((each) => missedFloors(figures, [each]).length > 0)
    if (missing.length === 0) return
    console.log(`\nMissed, ${attempt} attempt:\n${missedFloors(figures, missing).join('\n')}\n`)
  }
  process.exitCode = 1
}

export function printGoals(floors: readonly Floor[], figures: Figures): void {
  const rows = floors.flatMap(({ figure, goal }) => {
    const value = figures.get(figure)
    if (value === undefined) return []
    const verdict = goal === undefined ? '' : isWithin(value, goal) ? 'met' : 'missed'
    return [[figure, goal === undefined ? '' : describeLimit(goal), value.toFixed(3), verdict]]
  })
  console.log(`\n${markdownTable(['Figure', 'goal', 'measured', ''], rows)}`)
}
