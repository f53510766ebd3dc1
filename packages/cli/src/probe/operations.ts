import { UNTOLD } from './coverage.ts'
import { judgeAnswers } from './findings.ts'
import type { Probed } from './judgement.ts'

// The verdict on the operations of a description: those that were asked, those that are open, and those of which nothing is known.

export type OperationFindings = ReturnType<typeof judgeOperations>

interface Untested {
  readonly what: string
  readonly why: string
}

export interface AskedOperation {
  readonly name: string
  readonly probes: readonly Probed[]
  /** Why no token was sent that lacks a scope; `undefined` if one was, or if none is needed. */
  readonly scopesUntested: string | undefined
}

/** @param open Those that need nothing by the description: whether that is meant, it cannot say. */
export function judgeOperations(
  asked: readonly AskedOperation[],
  open: readonly string[],
  notAsked: readonly Untested[],
) {
  const nothing = { level: 'unclear', text: NOTHING_ASKED, requests: [] } as const
  const probes = asked.flatMap((each) => each.probes)
  const answers = judgeAnswers(probes, probes.length === 0 ? [nothing] : [])
  const untold = new Set(answers.rows.filter((row) => row.outcome === 'unclear').map(nameOf))
  const isUntold = (each: AskedOperation) => each.probes.some(({ probe }) => untold.has(probe.name))
  return {
    ...answers,
    open,
    tested: asked.filter((each) => !isUntold(each)).map(nameOf),
    notTested: [
      ...asked.filter(isUntold).map(({ name }): Untested => ({ what: name, why: UNTOLD })),
      ...asked.flatMap(({ name, scopesUntested: why }): readonly Untested[] =>
        why === undefined ? [] : [{ what: `scopes of ${name}`, why }],
      ),
      ...notAsked,
    ],
  }
}

const NOTHING_ASKED = 'nothing was asked: no operation that needs a token could be'

function nameOf({ name }: { readonly name: string }): string {
  return name
}
