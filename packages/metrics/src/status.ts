import { checkSources, type Sources } from './sources.ts'

// What all named sources say of themselves, in one object.

type StatusOf<Named> = {
  readonly [Name in keyof Named]: Named[Name] extends { status(): infer Status } ? Status : never
}

/** The `status()` of each source, by kind and by the name that you gave it. */
export type Statuses<Stated extends Sources> = {
  readonly [Kind in keyof Stated & ('keys' | 'revocations' | 'polls' | 'clients')]: StatusOf<
    Stated[Kind]
  >
}

/**
 * Says how everything is that has a name, for people and logs: it contains thumbprints and identities of streams, so do not
 * show it to strangers. What has no `status()`, such as a verifier, is left out. JSON.
 *
 * @throws TypeError for what is wrong or misspelt in `sources`.
 */
export function statusOf<Stated extends Sources>(sources: Stated): Statuses<Stated> {
  const { keys, revocations, polls, clients } = checkSources(sources)
  const stated = Object.entries({ keys, revocations, polls, clients }).flatMap(([kind, named]) => {
    const statuses = Object.entries(named).map(([name, each]) => [name, each.status()] as const)
    return statuses.length === 0 ? [] : [[kind, Object.fromEntries(statuses)] as const]
  })
  // Each kind that was stated, with the answers of its sources.
  return Object.fromEntries(stated) as Statuses<Stated>
}
