import { parseArgs } from 'node:util'

import {
  CommandError,
  compactStream,
  createStream,
  exportEntries,
  importEntries,
  revokeBefore,
  revokeToken,
  streamStatus,
} from './commands.ts'
import { type Connect, openConnection } from './connection.ts'
import { RevocationStoreError } from './errors.ts'
import { DEFAULT_STREAM, urlComplaint } from './options.ts'
import { openStream, type Stream } from './stream.ts'
import { systemClock, whileWaiting } from './time.ts'

/** What the program reads, writes and connects by, so that tests can run it in their process. */
export interface Surroundings {
  readonly connect: (url: string) => Connect
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly input: AsyncIterable<string>
  /** Data, a line. */
  readonly print: (line: string) => void
  /** What is for a human reader. */
  readonly say: (line: string) => void
}

/** Seconds. */
const TIMEOUT = 10

const USAGE = `Usage: portcullis-revocations COMMAND [--url URL] [--stream KEY]

  create [--replaces ID]...      make the stream, once; ID is the identity of one that was lost
  revoke --jti ID [--iss ISSUER] [--exp TIME]
                                 revoke one token
  revoke-before [--iss ISSUER] [--sub SUBJECT | --client-id ID | --sid ID] [--time TIME] [--until TIME]
                                 revoke what was issued before a time, by default now
  revoke-before --all            the same, of all tokens that name no issuer
  status                         what the stream says of itself
  compact                        delete entries that nobody needs any more
  export                         every revocation, a line of JSON each
  import                         add the lines that export has printed, from the standard input

The URL of the store is --url, or else the environment variable REDIS_URL. TIME is in seconds since 1970, or as
2026-01-31T12:00:00Z. Exit code 1: it was not done; 2: the command line is wrong.`

const OPTIONS = {
  url: { type: 'string' },
  stream: { type: 'string' },
  replaces: { type: 'string', multiple: true },
  iss: { type: 'string' },
  jti: { type: 'string' },
  exp: { type: 'string' },
  sub: { type: 'string' },
  'client-id': { type: 'string' },
  sid: { type: 'string' },
  time: { type: 'string' },
  until: { type: 'string' },
  all: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

type Values = ReturnType<typeof parse>['values']

/** Which options a command takes, besides `url` and `stream`. */
const COMMANDS: Readonly<Record<string, readonly (keyof Values)[]>> = {
  create: ['replaces'],
  revoke: ['iss', 'jti', 'exp'],
  'revoke-before': ['iss', 'sub', 'client-id', 'sid', 'time', 'until', 'all'],
  status: [],
  compact: [],
  export: [],
  import: [],
}

/** @returns The exit code. */
export async function run(args: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    const { command, values } = readArguments(args)
    if (command === 'help') {
      surroundings.print(USAGE)
      return 0
    }
    return await whileWaiting(perform(command, values, surroundings))
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    surroundings.say(`portcullis-revocations: ${error.message}`)
    surroundings.say('portcullis-revocations --help shows what it takes')
    return 2
  }
}

async function perform(
  command: string,
  values: Values,
  { connect, environment, input, print, say }: Surroundings,
): Promise<number> {
  const url = values.url ?? environment['REDIS_URL']
  if (url === undefined) throw new TypeError('state the store by --url or REDIS_URL')
  const complaint = urlComplaint(url)
  if (complaint !== undefined) throw new TypeError(`the URL of the store ${complaint}`)
  const connection = openConnection(connect(url), systemClock)
  try {
    const stream = openStream(values.stream ?? DEFAULT_STREAM, connection, TIMEOUT)
    if (command === 'export') {
      for await (const entry of exportEntries(stream)) print(JSON.stringify(entry))
    } else print(JSON.stringify(await resultOf(command, values, stream, input)))
    return 0
  } catch (error) {
    if (!(error instanceof RevocationStoreError || error instanceof CommandError)) throw error
    say(`portcullis-revocations: ${error.message}`)
    return 1
  } finally {
    connection.close()
  }
}

async function resultOf(
  command: string,
  values: Values,
  stream: Stream,
  input: AsyncIterable<string>,
): Promise<object> {
  const { iss, jti, sub, sid, 'client-id': client_id } = values
  const [exp, time, until] = [values.exp, values.time, values.until].map(timeOf)
  switch (command) {
    case 'create':
      return await createStream(stream, values.replaces ?? [])
    case 'revoke':
      if (jti === undefined) throw new TypeError('revoke: --jti must be stated')
      return await revokeToken(stream, stated({ iss, jti, exp }))
    case 'revoke-before':
      checkWhose({ iss, sub, client_id, sid }, values.all === true)
      return await revokeBefore(
        stream,
        stated({ iss, sub, client_id, sid }),
        stated({ time, until }),
      )
    case 'compact':
      return await compactStream(stream, systemClock.now())
    case 'import':
      return await importEntries(stream, input)
    default:
      return await streamStatus(stream)
  }
}

/** What is forgotten on the command line must not revoke everybody's tokens: there is no undo. */
function checkWhose(whose: object, isAll: boolean): void {
  const isNamed = Object.values(whose).some((value) => value !== undefined)
  if (isNamed === isAll) {
    throw new TypeError(
      'revoke-before: state whose tokens by --iss, --sub, --client-id or --sid, or --all for all that name no issuer',
    )
  }
}

function readArguments(args: readonly string[]): { command: string; values: Values } {
  const { values, positionals } = parse(args)
  const [command, ...others] = positionals
  if (values.help === true) return { command: 'help', values }
  const names = Object.keys(COMMANDS).join(', ')
  if (command === undefined) throw new TypeError(`no command, known are ${names}`)
  if (!Object.hasOwn(COMMANDS, command) || others.length > 0) {
    throw new TypeError(`unknown command ${positionals.join(' ')}, known are ${names}`)
  }
  const known = new Set<string>(['url', 'stream', ...(COMMANDS[command] ?? [])])
  const wrong = Object.keys(values).find((name) => !known.has(name))
  if (wrong !== undefined) throw new TypeError(`${command} takes no --${wrong}`)
  return { command, values }
}

/** @throws TypeError for an unknown option. */
function parse(args: readonly string[]) {
  return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
}

function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const time = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Date.parse(text) / 1000
  if (!Number.isFinite(time)) throw new TypeError('a time must be seconds or 2026-01-31T12:00:00Z')
  return time
}

/** Without what is `undefined`. */
function stated<Members extends object>(
  members: Members,
): { [Name in keyof Members]: Exclude<Members[Name], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as never
}
