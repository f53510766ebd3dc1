// Reads `WWW-Authenticate` by the grammar of RFC 9110. It shares no code with core, which writes the header.

export interface Challenge {
  /** In lower case, since schemes are case-insensitive. */
  readonly scheme: string
  readonly token68: string | undefined
  /** By name in lower case, since names are case-insensitive. Values are without quotes and escapes. */
  readonly parameters: ReadonlyMap<string, string>
}

const TOKEN = String.raw`([\w!#$%&'*+.^\x60|~-]+)`
const QUOTED = String.raw`"((?:[\t !\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t -~\x80-\xff])*)"`
const END = String.raw`[ \t]*(?=,|$)`

/** Between two elements of a list there may be empty ones (RFC 9110 section 5.6.1.2). */
const GAP = /[ \t]*(?:,[ \t]*)*/y
const PARAMETER = new RegExp(String.raw`${TOKEN}[ \t]*=[ \t]*(?:${QUOTED}|${TOKEN})${END}`, 'y')
const TOKEN68 = new RegExp(String.raw`([\w.~+/-]+=*)${END}`, 'y')
const SCHEME = new RegExp(String.raw`${TOKEN}(?:${END}|( +))`, 'y')

/** In each field a comma may separate challenges as well as parameters. @throws SyntaxError that says what cannot be read. */
export function parseChallenges(fields: readonly string[]): readonly Challenge[] {
  return fields.flatMap(parseField)
}

function parseField(field: string): readonly Challenge[] {
  const challenges: Challenge[] = []
  let parameters: Map<string, string> | undefined
  let at = 0

  function take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = at
    const found = pattern.exec(field)
    at += found?.[0].length ?? 0
    return found ?? undefined
  }

  function takeParameter(known: Map<string, string>): boolean {
    const [, name, quoted, token = ''] = take(PARAMETER) ?? []
    if (name === undefined) return false
    const key = name.toLowerCase()
    if (known.has(key)) throw new SyntaxError(`the parameter ${key} occurs twice`)
    known.set(key, quoted?.replaceAll(/\\(.)/gs, '$1') ?? token)
    return true
  }

  function takeChallenge(): boolean {
    const [, scheme, more] = take(SCHEME) ?? []
    if (scheme === undefined) return false
    const own = new Map<string, string>()
    const isComplete = more === undefined || takeParameter(own)
    const token68 = isComplete ? undefined : take(TOKEN68)?.[1]
    parameters = token68 === undefined ? own : undefined
    challenges.push({ scheme: scheme.toLowerCase(), token68, parameters: own })
    return isComplete || token68 !== undefined
  }

  for (take(GAP); at < field.length; take(GAP)) {
    const isParameter = parameters !== undefined && takeParameter(parameters)
    if (!isParameter && !takeChallenge()) {
      throw new SyntaxError(`nothing that it may have comes at ${JSON.stringify(field.slice(at))}`)
    }
  }
  return challenges
}
