// A path that leads to a route, as the frameworks write those.

export interface AskedPath {
  readonly text: string
  /** The names of the parameters that got a value. */
  readonly taken: readonly string[]
}

/**
 * @param stated The whole path, where the user says it.
 * @returns `undefined` for a pattern that is more than parameters and wildcards.
 */
export function pathFor(
  pattern: string,
  values: Readonly<Record<string, string>>,
  stated: string | undefined,
): AskedPath | undefined {
  if (stated !== undefined) return { text: stated, taken: [] }
  if (!/^(?:\/(?:[\w.~-]+|:\w+|\*\w*))*\/?$/.test(pattern)) return undefined
  const taken: string[] = []
  const text = pattern.replaceAll(/[:*](\w*)/g, (_written, name: string) => {
    if (!Object.hasOwn(values, name)) return '1'
    taken.push(name)
    return encodeURIComponent(values[name] ?? '')
  })
  return { text, taken }
}
