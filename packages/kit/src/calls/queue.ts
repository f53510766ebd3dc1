// Calls that wait for their turn, each by its name.

/**
 * The newest comes first. Where more come than can be served, who came first has waited for so long that they are about to leave: the
 * answer would come too late for each of them, also where strangers invent nothing. Where all are served, the order does not matter.
 */
export interface Queue<Item> {
  get(name: string): Item | undefined
  add(name: string, item: Item): void
  /** Somebody else has come for it, who is newer than all others. */
  repeat(name: string): void
  delete(name: string): void
  /** The next one. It stays. */
  next(): Item | undefined
}

interface Entry<Item> {
  readonly item: Item
  older: Entry<Item> | undefined
  newer: Entry<Item> | undefined
}

/** Each step takes the same time, however many wait: strangers decide how many that are. */
export function createQueue<Item>(): Queue<Item> {
  const entries = new Map<string, Entry<Item>>()
  let newest: Entry<Item> | undefined

  function append(entry: Entry<Item>): void {
    entry.older = newest
    entry.newer = undefined
    if (newest !== undefined) newest.newer = entry
    newest = entry
  }

  function unlink({ older, newer }: Entry<Item>): void {
    if (older !== undefined) older.newer = newer
    if (newer === undefined) newest = older
    else newer.older = older
  }

  return {
    get: (name) => entries.get(name)?.item,
    add(name, item) {
      const entry = { item, older: undefined, newer: undefined }
      entries.set(name, entry)
      append(entry)
    },
    repeat(name) {
      const entry = entries.get(name)
      if (entry === undefined) return
      unlink(entry)
      append(entry)
    },
    delete(name) {
      const entry = entries.get(name)
      if (entry === undefined) return
      entries.delete(name)
      unlink(entry)
    },
    next: () => newest?.item,
  }
}
