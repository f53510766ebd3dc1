// Finds the names that a misspelt one may have meant.

const MAX_NAMES = 3
/** Longer names are compared by their beginning: the time grows with the product of the lengths. */
const MAX_LENGTH = 100

/** Those that differ in the fewest letters, or that it is a part of: at most three, in their order. */
export function nearest(name: string, known: readonly string[]): readonly string[] {
  const wanted = folded(name)
  if (wanted === '') return []
  const distances = known.map((each) => [each, distance(wanted, folded(each))] as const)
  const least = Math.min(...distances.map(([, letters]) => letters))
  const near = distances.filter(
    ([each, letters]) =>
      letters === least && letters <= Math.max(1, Math.min(wanted.length, each.length) * 0.4),
  )
  const found = near.length > 0 ? near : distances.filter(([each]) => isPart(wanted, folded(each)))
  return found.slice(0, MAX_NAMES).map(([each]) => each)
}

export function alternatives(names: readonly string[]): string {
  const last = names.at(-1) ?? ''
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} or ${last}`
}

function folded(name: string): string {
  return name
    .slice(0, MAX_LENGTH)
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, ' ')
    .trim()
}

function isPart(wanted: string, known: string): boolean {
  return wanted.length >= 3 && known.includes(wanted)
}

/** How many letters have to be added, left out, replaced, or swapped with the next one. */
function distance(one: string, other: string): number {
  let before: readonly number[] = []
  let row: readonly number[] = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1]
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      next.push(
        Math.min(
          (row[j] ?? 0) + 1,
          (next[j - 1] ?? 0) + 1,
          (row[j - 1] ?? 0) + (isSame ? 0 : 1),
          isSwapped ? (before[j - 2] ?? 0) + 1 : Infinity,
        ),
      )
    }
    before = row
    row = next
  }
  return row[other.length] ?? 0
}
