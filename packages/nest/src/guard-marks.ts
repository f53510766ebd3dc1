import type { GuardMark } from '@portcullis/kit/routes'

// Which objects are guards of this package. `describeRoutes` reads it, and no request does.

const marks = new WeakMap<object, GuardMark>()

export function markGuard<Guard extends object>(guard: Guard, mark: GuardMark): Guard {
  marks.set(guard, mark)
  return guard
}

export function guardMarkOf(candidate: object): GuardMark | undefined {
  return marks.get(candidate)
}
