import { checkSources, type Sources } from './sources.ts'

// What all named sources say of themselves, in one object.

/**
 * Says how everything is that has a name, for people and logs: it contains thumbprints and identities of streams, so do not
 * show it to strangers. What has no `status()`, such as a verifier, is left out. JSON.
 *
 * @throws TypeError for what is wrong or misspelt in `sources`.
 */
export function statusOf<Stated extends Sources>(
  sources: Stated,
): {
  // Named by `infer`, a kind that may be `undefined` stays so.
  readonly [
    Kind in keyof Stated & ('keys' | 'revocations' | 'polls' | 'clients')
  ]: Stated[Kind] extends infer Named
    ? {
        readonly [Name in keyof Named]: Named[Name] extends { status(): infer Status }
          ? Status
          : never
      }
    : never
} {
  const { keys, revocations, polls, clients } = checkSources(sources)
  const stated = Object.entries({ keys, revocations, polls, clients }).flatMap(([kind, named]) => {
    const statuses = Object.entries(named).map(([name, each]) => [name, each.status()] as const)
    return statuses.length === 0 ? [] : [[kind, Object.fromEntries(statuses)] as const]
  })
  // Each kind that was stated, with the answers of its sources.
  return Object.fromEntries(stated) as ReturnType<typeof statusOf<Stated>>
}
