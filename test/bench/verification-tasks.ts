import type { Take } from './inputs.ts'
import {
  acceptAtOnce,
  acceptEach,
  acceptEachSync,
  type Cost,
  measure,
  median,
  medianRatio,
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

/** Of a subject beside another, by time of one kind or two. */
export function ratioOf(
  costs: Costs | undefined,
  subject: Subject,
  other: Subject,
  part: keyof Cost = 'wall',
  basis: keyof Cost = part,
): number {
  const [own, others] = [costs?.get(subject), costs?.get(other)]
  return medianRatio(
    own,
    others,
    (cost) => cost[part],
    (cost) => cost[basis],
  )
}

/** Microseconds of one verification, or NaN of what was not measured. */
export function costOf(
  costs: Costs | undefined,
  subject: Subject,
  part: keyof Cost = 'wall',
): number {
  return median((costs?.get(subject) ?? []).map((cost) => cost[part]))
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
