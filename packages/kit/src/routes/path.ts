// Whether a prefix contains the paths of a route: the proof that a guard on the one runs before the other.

/** Between two slashes. */
export interface Segment {
  /** `undefined` where it is a parameter, a wildcard or a pattern: then it may stand for several as well. */
  readonly text: string | undefined
  /** Whether upper and lower case differ here. */
  readonly isSensitive: boolean
}

/** The paths that lead to a route. */
export interface Target {
  readonly segments: readonly Segment[]
  /** Whether nothing may follow. */
  readonly isExact: boolean
}

/** Whether something runs for the requests of a route: for all of them, perhaps for some, or for none. */
export type Reach = 'always' | 'maybe' | 'never'

/** A path that is known to stand for itself in all frameworks: no character of it means anything in a pattern. */
export function literalSegments(path: string): readonly string[] | undefined {
  if (!/^(?:\/[\w.~-]+)*\/?$/.test(path)) return undefined
  return path.split('/').filter((each) => each !== '')
}

/** A path in which each segment is literal, a parameter or a wildcard. Of any other nothing is known. */
export function segmentsOf(path: string, isSensitive: boolean): readonly Segment[] {
  if (!/^(?:\/(?:[\w.~-]+|:\w+|\*\w*))*\/?$/.test(path)) return [{ text: undefined, isSensitive }]
  const texts = path.split('/').filter((each) => each !== '')
  return texts.map((each) => ({ text: /^[:*]/.test(each) ? undefined : each, isSensitive }))
}

/** Whether the requests of a route are all below a prefix. */
export function reachOf(prefix: readonly string[], isSensitive: boolean, target: Target): Reach {
  let isProven = true
  for (const [index, wanted] of prefix.entries()) {
    const segment = target.segments[index]
    if (segment === undefined) return target.isExact ? 'never' : 'maybe'
    const { text } = segment
    if (text === undefined) return 'maybe'
    if (text.toLowerCase() !== wanted.toLowerCase()) return 'never'
    if (!isSensitive) continue
    if (!segment.isSensitive) isProven = false
    else if (text !== wanted) return 'never'
  }
  return isProven ? 'always' : 'maybe'
}

/** Whether a function on one of several paths runs. */
export function anyReach(reaches: readonly Reach[]): Reach {
  if (reaches.includes('always')) return 'always'
  return reaches.includes('maybe') ? 'maybe' : 'never'
}

/** Whether two places have no path in common. */
export function isElsewhere(one: Target, other: Target): boolean {
  for (let index = 0; ; index += 1) {
    const [mine, theirs] = [one.segments[index], other.segments[index]]
    if (mine === undefined) return one.isExact && theirs?.text !== undefined
    if (theirs === undefined) return other.isExact && mine.text !== undefined
    if (mine.text === undefined || theirs.text === undefined) return false
    if (mine.text.toLowerCase() !== theirs.text.toLowerCase()) return true
  }
}
