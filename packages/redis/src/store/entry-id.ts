// Ids of stream entries, `milliseconds-sequence`: two numbers of 64 bits, too large for a `number`.

/** The id that every other is larger than. */
export const LOWEST_ID = '0-0'

const ENTRY_ID = /^\d{1,20}-\d{1,20}$/

export function isEntryId(value: unknown): value is string {
  return typeof value === 'string' && ENTRY_ID.test(value)
}

export function isLater(id: string, than: string): boolean {
  const [milliseconds, sequence] = numbersOf(id)
  const [otherMilliseconds, otherSequence] = numbersOf(than)
  return milliseconds === otherMilliseconds
    ? sequence > otherSequence
    : milliseconds > otherMilliseconds
}

function numbersOf(id: string): [milliseconds: bigint, sequence: bigint] {
  const [milliseconds = '', sequence = ''] = id.split('-')
  return [BigInt(milliseconds), BigInt(sequence)]
}
