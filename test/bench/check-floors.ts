import { describeLimit, type Figures, type Floor, isMeasured, isWithin } from './floors.ts'
import { markdownTable } from './table.ts'

// What a bench says of its goals, and `--check` of its floors.

/**
 * A floor that is missed is printed and fails nothing: how long something takes also says who else uses the machine.
 *
 * @throws Error for a figure that was not measured: then the bench itself is broken.
 */
export function checkFloors(floors: readonly Floor[], figures: Figures): void {
  const rows = floors.flatMap(({ figure, floor }) => {
    if (floor === undefined) return []
    const value = figures.get(figure)
    if (!isMeasured(value)) throw new Error(`not measured: ${figure}`)
    return [
      [figure, describeLimit(floor), value.toFixed(3), isWithin(value, floor) ? '' : 'missed'],
    ]
  })
  console.log(markdownTable(['Figure', 'floor', 'measured', ''], rows))
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
