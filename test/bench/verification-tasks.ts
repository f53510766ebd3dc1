import type { Take } from './inputs.ts'
import {
  acceptAtOnce,
  acceptEach,
  acceptEachSync,
  type Cost,
  measure,
  median,
  type Plan,
  refuseEach,
  refuseEachSync,
  type Run,
  type Task,
} from './measure.ts'
import type { Subject } from './subjects.ts'

/** Of each subject, round by round, so that ratios are those of neighbours. */
export type Costs = ReadonlyMap<Subject, readonly Cost[]>

export function acceptTask(subject: Subject, take: Take): Task {
  return task(subject, subject.isSync ? acceptEachSync : acceptEach, take)
}

/** 64 at a time, where the subject can wait. */
export function acceptAtOnceTask(subject: Subject, take: Take): Task {
  return task(subject, subject.isSync ? acceptEachSync : acceptAtOnce, take)
}

export function refuseTask(subject: Subject, take: Take): Task {
  return task(subject, subject.isSync ? refuseEachSync : refuseEach, take)
}

export async function measureSubjects(
  subjects: readonly Subject[],
  taskOf: (subject: Subject) => Task,
  plan: Plan,
): Promise<Costs> {
  const tasks = new Map(subjects.map((subject) => [taskOf(subject), subject]))
  const costs = await measure([...tasks.keys()], plan)
  return new Map([...tasks].map(([each, subject]) => [subject, costs.get(each) ?? []]))
}

/** The median of what the rounds say, each beside the same round of another subject. */
export function medianRatio(
  costs: readonly Cost[],
  others: readonly Cost[],
  part: keyof Cost = 'wall',
  basis: keyof Cost = part,
): number {
  return median(costs.map((cost, round) => cost[part] / (others[round]?.[basis] ?? Number.NaN)))
}

function task(subject: Subject, run: Run, take: Take): Task {
  return {
    name: subject.name,
    prepare(count) {
      const verifications = take(count).map((token) => subject.verification(token))
      return () => run(verifications)
    },
  }
}
