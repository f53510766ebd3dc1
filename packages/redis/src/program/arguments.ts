import { parseArgs } from 'node:util'

import { sentinelComplaint, urlComplaint } from '../store/source-options.ts'

// The arguments of `portcullis-revocations`: which there are, which of them a command takes, and what they mean.

export interface ProgramSource {
  readonly url: string
  readonly sentinel: { readonly primary: string; readonly urls: readonly string[] } | undefined
}

const OPTIONS = {
  url: { type: 'string' },
  stream: { type: 'string' },
  primary: { type: 'string' },
  sentinel: { type: 'string', multiple: true },
  replaces: { type: 'string', multiple: true },
  identity: { type: 'string' },
  finish: { type: 'boolean' },
  processes: { type: 'string' },
  iss: { type: 'string' },
  jti: { type: 'string', multiple: true },
  exp: { type: 'string' },
  sub: { type: 'string' },
  'client-id': { type: 'string' },
  sid: { type: 'string' },
  time: { type: 'string' },
  until: { type: 'string' },
  all: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

const REPEATABLE: ReadonlySet<string> = new Set([
  'replaces',
  'jti',
  'sentinel',
] satisfies (keyof typeof OPTIONS)[])

type Options = typeof OPTIONS

export type Values = {
  readonly [Name in keyof Options]?:
    | (Options[Name] extends { multiple: true }
        ? string[]
        : Options[Name]['type'] extends 'boolean'
          ? boolean
          : string)
    | undefined
}

/** Which options a command takes, besides those of the store. */
const COMMANDS: Readonly<Record<string, readonly (keyof Values)[]>> = {
  create: ['replaces', 'identity'],
  restore: ['finish', 'processes'],
  revoke: ['iss', 'jti', 'exp'],
  'revoke-before': ['iss', 'sub', 'client-id', 'sid', 'time', 'until', 'all'],
  status: [],
  compact: [],
  export: [],
  import: [],
}

const OF_THE_STORE: readonly (keyof Values)[] = ['url', 'stream', 'primary', 'sentinel']

export function readArguments(args: readonly string[]): { command: string; values: Values } {
  const { values, positionals } = parse(args)
  const [command, ...others] = positionals
  if (values.help === true) return { command: 'help', values }
  const names = Object.keys(COMMANDS).join(', ')
  if (command === undefined) throw new TypeError(`no command, known are ${names}`)
  if (!Object.hasOwn(COMMANDS, command) || others.length > 0) {
    throw new TypeError(`unknown command ${positionals.join(' ')}, known are ${names}`)
  }
  const known = new Set<string>([...OF_THE_STORE, ...(COMMANDS[command] ?? [])])
  const wrong = Object.keys(values).find((name) => !known.has(name))
  if (wrong !== undefined) throw new TypeError(`${command} takes no --${wrong}`)
  return { command, values }
}

/** @throws TypeError for an unknown option, and for one that is stated twice: of two values, one would be dropped in silence. */
function parse(args: readonly string[]): { values: Values; positionals: readonly string[] } {
  const options = {
    args: [...args],
    options: OPTIONS,
    allowPositionals: true,
    tokens: true,
  } as const
  const { values, positionals, tokens } = parseArgs(options)
  const seen = new Set<string>()
  for (const token of tokens) {
    if (token.kind !== 'option' || REPEATABLE.has(token.name)) continue
    if (seen.has(token.name)) throw new TypeError(`--${token.name} is stated twice`)
    seen.add(token.name)
  }
  return { values, positionals }
}

export function sourceIn(
  { url: stated, primary, sentinel: urls }: Values,
  environment: Readonly<Record<string, string | undefined>>,
): ProgramSource {
  const url = stated ?? environment['REDIS_URL']
  if (url === undefined) throw new TypeError('state the store by --url or REDIS_URL')
  const complaint = urlComplaint(url)
  if (complaint !== undefined) throw new TypeError(`the URL of the store ${complaint}`)
  if (primary === undefined && urls === undefined) return { url, sentinel: undefined }
  if (primary === undefined || urls === undefined) {
    throw new TypeError('with Sentinel, state both --primary and --sentinel')
  }
  const sentinel = { primary, urls }
  const wrong = sentinelComplaint(sentinel)
  if (wrong !== undefined) throw new TypeError(`what is said of sentinels ${wrong}`)
  return { url, sentinel }
}

/** @returns How many processes run, by whoever ends a restoration; `undefined`: nobody does. */
export function endIn({ finish = false, processes }: Values): number | undefined {
  if (!finish && processes === undefined) return undefined
  if (!finish) throw new TypeError('restore: --processes belongs to --finish')
  if (processes === undefined || !/^[1-9]\d{0,8}$/.test(processes)) {
    throw new TypeError('restore: --finish needs --processes, the number of processes that run')
  }
  return Number(processes)
}

/** The year 5138. What is later is a time in milliseconds. */
const LATEST = 100_000_000_000

export function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const time = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Date.parse(text) / 1000
  if (!Number.isFinite(time)) throw new TypeError('a time must be seconds or 2026-01-31T12:00:00Z')
  if (time >= LATEST) throw new TypeError('a time must be in seconds, not in milliseconds')
  return time
}
