import { TransmitterError } from './transmitter-error.ts'

// Creates a stream, or finds it: in the end all processes of an application have one and the same, whatever happens between their requests.

export interface Named {
  readonly id: string
}

/** What a transmitter does. Each rejects with a {@link TransmitterError}. */
export interface OwnStreams<Each extends Named> {
  /** Those that are ours. */
  list(): Promise<readonly Each[]>
  /** `undefined` if the transmitter allows no other stream than the one there is: 409. */
  create(): Promise<Each | undefined>
  /** The only stream of this receiver, ours or not yet. */
  only(): Promise<Each>
  /** One that is gone already is no failure. */
  remove(id: string): Promise<void>
  pause(seconds: number): Promise<void>
}

/**
 * Seconds. Who has created the first of several streams waits so long for those who have created the others to take theirs back, as they
 * do once they have listed.
 */
const CONTEST = 2

/**
 * The stream that is used where none was found. Whoever finds another one after creating deletes their own: events may be waiting in the
 * other one, which somebody may use already, and there are none for the new one. Of two who find each other the second deletes at once, and
 * the first once the other has not.
 */
export async function settle<Each extends Named>(own: OwnStreams<Each>): Promise<Each> {
  const mine = await own.create()
  if (mine === undefined) return await own.only()
  const others = async () => (await own.list()).filter(({ id }) => id !== mine.id)
  let seen = await others()
  if (seen.length === 0) return mine
  if (firstOf([mine, ...seen]) === mine) {
    await own.pause(CONTEST)
    seen = await others()
  }
  const other = firstOf(seen)
  if (other === undefined) return mine
  await own.remove(mine.id)
  return other
}

/** The same for all processes: configurations have no time. */
export function firstOf<Each extends Named>(streams: readonly Each[]): Each | undefined {
  return streams.toSorted((one, other) => (one.id < other.id ? -1 : 1))[0]
}

/** So many at a look: a look must have an end, whatever a transmitter lists. */
const MOST_REMOVED = 10

/**
 * What a process that ended between two requests has left: it is deleted once it was seen twice. What was seen once may be of a process that
 * is about to delete it, or to find that it has created the only one.
 */
export function leftovers(
  streams: readonly Named[],
  seenBefore: ReadonlySet<string>,
): { readonly remove: readonly string[]; readonly seen: ReadonlySet<string> } {
  const first = firstOf(streams)
  const surplus = streams.filter((each) => each !== first).map(({ id }) => id)
  const remove = surplus.filter((id) => seenBefore.has(id)).slice(0, MOST_REMOVED)
  return { remove, seen: new Set(surplus) }
}

/** @throws TransmitterError unless there is exactly one. */
export function theOnly<Each>(streams: readonly Each[]): Each {
  const [only, ...others] = streams
  if (only !== undefined && others.length === 0) return only
  throw new TransmitterError(
    'the transmitter allows no further stream (409), and has none with this description',
  )
}
