import type { RouteList } from '@portcullis/kit/routes'
import { expect } from 'vitest'

import type { Asked } from './tree.ts'

// What a list of routes claims, held against what strangers got.

/** What ran for one request, by name. */
export interface Trace {
  /** The handlers of routes. */
  readonly handlers: readonly string[]
  /** Functions that answered, or changed the URL, rather than hand on. */
  readonly acted: readonly string[]
}

/** An application that is built. Every function in it has a name of its own. */
export interface Built {
  readonly list: RouteList
  /** Of a stranger: without a token. */
  ask(request: Asked): Promise<Trace>
  close(): Promise<void> | void
}

export interface Figures {
  trees: number
  requests: number
  /** Requests of strangers that a handler of a route answered. */
  reached: number
  /** Trees for which it would have been wrong to call each route required. */
  refutable: number
  readonly states: Record<'required' | 'optional' | 'none' | 'unseen', number>
}

export function noFigures(): Figures {
  return {
    trees: 0,
    requests: 0,
    reached: 0,
    refutable: 0,
    states: { required: 0, optional: 0, none: 0, unseen: 0 },
  }
}

/** The handlers that ran for a stranger although the list calls their routes required, and although nothing acted that it names. */
function refutes({ routes }: RouteList, { handlers, acted }: Trace): readonly string[] {
  return handlers.filter((name) => {
    const found = routes.filter((each) => each.handler === name)
    const isExcused = found.some(({ before }) => before.some((each) => acted.includes(each.name)))
    return found.length > 0 && found.every(({ state }) => state === 'required') && !isExcused
  })
}

/** The handlers that ran, have no entry and are named before no guard. One within an application has no entry of its own. */
function missing({ routes, isComplete }: RouteList, { handlers }: Trace): readonly string[] {
  const named = new Set(
    routes.flatMap(({ handler, before }) => [handler, ...before.map(({ name }) => name)]),
  )
  return isComplete ? handlers.filter((name) => !named.has(name)) : []
}

export async function check(
  built: Built,
  requests: readonly Asked[],
  figures: Figures,
): Promise<void> {
  const { list } = built
  const boast: RouteList = {
    ...list,
    routes: list.routes.map((each) => Object.assign({}, each, { state: 'required', before: [] })),
  }
  figures.trees += 1
  for (const { state } of list.routes) figures.states[state] += 1
  let isRefutable = false
  for (const request of requests) {
    const trace = await built.ask(request)
    figures.requests += 1
    if (trace.handlers.length > 0) figures.reached += 1
    expect(refutes(list, trace), `${request.method} ${request.path}`).toEqual([])
    expect(missing(list, trace), `${request.method} ${request.path}`).toEqual([])
    isRefutable ||= refutes(boast, trace).length > 0
  }
  if (isRefutable) figures.refutable += 1
}
