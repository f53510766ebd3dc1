// Remembers what was used recently, within bounds of entries and bytes.

export interface Memory<Value> {
  /** It counts as used. */
  get(key: string): Value | undefined
  /** Adds or replaces an entry, and forgets those that were used least recently until all are within the bounds. */
  set(key: string, value: Value, bytes: number): void
  forget(key: string): void
  clear(): void
  readonly size: number
  readonly bytes: number
}

export function createMemory<Value>(limits: {
  readonly max: number
  readonly bytes: number
}): Memory<Value> {
  /** The one that was used least recently comes first. */
  const entries = new Map<string, { readonly value: Value; readonly bytes: number }>()
  let bytes = 0

  function forget(key: string): void {
    bytes -= entries.get(key)?.bytes ?? 0
    entries.delete(key)
  }

  return {
    get size() {
      return entries.size
    },
    get bytes() {
      return bytes
    },
    get(key) {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      entries.delete(key)
      entries.set(key, entry)
      return entry.value
    },
    set(key, value, size) {
      forget(key)
      entries.set(key, { value, bytes: size })
      bytes += size
      for (const oldest of entries.keys()) {
        if (entries.size <= limits.max && bytes <= limits.bytes) break
        forget(oldest)
      }
    },
    forget,
    clear() {
      entries.clear()
      bytes = 0
    },
  }
}
