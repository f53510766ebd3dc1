// What the programs of this folder share: how often there was which answer, which they tell their parent at the end.

const counts = new Map<string, number>()

export function answered(subject: string, kind: string, answer: number | string): void {
  const name = `${subject}, ${kind}: ${answer}`
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

/** Memory that was corrupted is found when garbage is collected. */
export function collect(): void {
  if (globalThis.gc === undefined) throw new Error('run with --expose-gc')
  globalThis.gc()
}

process.on('beforeExit', () => {
  collect()
  process.send?.(Object.fromEntries(counts))
  counts.clear()
})
