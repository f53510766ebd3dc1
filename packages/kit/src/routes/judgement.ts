import type { GuardMark } from './guard-mark.ts'
import type { Reach } from './path.ts'
import type {
  FunctionBefore,
  Route,
  RouteList,
  RouteRequirement,
  RouteState,
} from './route-list.ts'

// Decides what is proven of a route by what runs ahead of its handler, whichever framework has it.

/** A function that stands ahead of a handler. */
export interface Step extends FunctionBefore {
  /** What it is, wherever it is met: a function may stand in several places. */
  readonly key: object
  /** `undefined` for a function that is not ours. */
  readonly mark?: GuardMark | undefined
  readonly runs: Exclude<Reach, 'never'>
  /** Whether it may have a guard within that nothing shows. */
  readonly mayHide?: boolean | undefined
  /** Whether it may let a request go on that a guard of the same chain has refused. */
  readonly mayOverrule?: boolean | undefined
  /** The chain that it is part of. */
  readonly chain: object
  /** Whether only requests get here that the given step, which stands before, has let through. By default all of them. */
  readonly isBehind?: ((guard: Step) => boolean) | undefined
}

/** Something that answers. */
export interface Candidate {
  readonly key: object
  readonly method: string
  readonly path: string
  readonly handler: string
  readonly steps: readonly Step[]
  /** A route has an entry. A function that may only hand on has one where a stranger reaches it and no `before` names it. Of what is `unknown` nobody knows what is ahead. */
  readonly kind: 'route' | 'function' | 'application' | 'unknown'
}

interface Judgement {
  readonly state: RouteState
  readonly requirements: readonly RouteRequirement[]
  readonly before: readonly Step[]
}

export function routeListOf(candidates: readonly Candidate[], isComplete: boolean): RouteList {
  const judged = candidates.map((each) => ({ each, judgement: judge(each.steps) }))
  // Of what has an entry for certain: before a function that has none, nobody would read the name.
  const named = new Set(
    judged
      .filter(({ each }) => each.kind !== 'function')
      .flatMap(({ judgement: { before } }) => before.map(({ key }) => key)),
  )
  const shown = judged.filter(
    ({ each, judgement }) =>
      each.kind !== 'function' || (judgement.state !== 'required' && !named.has(each.key)),
  )
  return {
    routes: shown.map(({ each, judgement }) => routeOf(each, judgement)),
    isComplete: isComplete && !candidates.some(({ kind }) => kind === 'application'),
  }
}

function routeOf({ method, path, handler, kind }: Candidate, judgement: Judgement): Route {
  const { state, requirements, before } = judgement
  // An application may have guards of its own.
  const isUnseen = kind === 'unknown' || (kind === 'application' && state === 'none')
  return {
    method,
    path,
    handler,
    state: isUnseen ? 'unseen' : state,
    requirements: isUnseen ? [] : requirements,
    before: (isUnseen ? [] : before).map((step) => ({ name: step.name, path: step.path })),
  }
}

/** What is proven so far. */
interface Proof {
  readonly step: Step
  readonly mark: GuardMark
}

function judge(steps: readonly Step[]): Judgement {
  let proofs: readonly Proof[] = []
  let isDoubtful = false
  for (const step of steps) {
    const { mark, runs } = step
    if (step.mayHide === true) isDoubtful = true
    if (step.mayOverrule === true) {
      const kept = proofs.filter((proof) => proof.step.chain !== step.chain)
      if (kept.length < proofs.length) isDoubtful = true
      proofs = kept
    }
    if (mark === undefined) continue
    // A requirement without a guard before it lets nobody through: there is a guard that is not seen, or a mistake.
    const isProven = runs === 'always' && (mark.guards !== undefined || proofs.length > 0)
    if (isProven) proofs = [...proofs, { step, mark }]
    else isDoubtful = true
  }
  const optional = proofs[0]
  const required = proofs.find(({ mark }) => mark.guards !== 'optional')
  if (required === undefined && (isDoubtful || optional === undefined)) {
    return { state: isDoubtful ? 'unseen' : 'none', requirements: [], before: [] }
  }
  const deciding = (required ?? optional)?.step
  return {
    state: required === undefined ? 'optional' : 'required',
    requirements: proofs.flatMap(({ mark }) => mark.requirements),
    before: deciding === undefined ? [] : beforeOf(steps, deciding),
  }
}

function beforeOf(steps: readonly Step[], guard: Step): readonly Step[] {
  const at = steps.indexOf(guard)
  return steps.filter(
    (step, index) =>
      step.mark?.guards === undefined &&
      (index < at || (index > at && step.isBehind?.(guard) === false)),
  )
}
