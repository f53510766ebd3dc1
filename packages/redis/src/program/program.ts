import { backgroundClock } from '@portcullis/kit/time'

import { DEFAULT_STREAM } from '../revocations/options.ts'
import { type Connect, openConnection } from '../store/connection.ts'
import { RevocationStoreError } from '../store/errors.ts'
import { openStream, type Stream } from '../store/stream.ts'
import { whileWaiting } from '../store/time.ts'
import {
  endIn,
  type ProgramSource,
  readArguments,
  sourceIn,
  timeOf,
  type Values,
} from './arguments.ts'
import {
  checkIdentity,
  CommandError,
  compactStream,
  createStream,
  exportEntries,
  importEntries,
  revokeBefore,
  revokeTokens,
  streamStatus,
} from './commands.ts'
import { restoreStream } from './restoration.ts'

// The command line of `portcullis-revocations`: carries out a command, and refuses what could revoke more than was meant. `commands.ts`
// does the work.

/** What the program reads, writes and connects by, so that tests can run it in their process. */
export interface Surroundings {
  readonly connect: (source: ProgramSource) => Connect
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly input: AsyncIterable<string>
  /** Data, a line. May reject: whoever reads it may have gone. */
  readonly print: (line: string) => unknown
  /** What is for a human reader. */
  readonly say: (line: string) => void
}

/** Seconds. */
const TIMEOUT = 10

const USAGE = `Usage: portcullis-revocations COMMAND [--url URL] [--stream KEY]

  create                         make the stream, once
  create --replaces ID...        the same, in place of one that was lost: ID is its identity
  create --identity ID           make nothing: exit code 0 if the stream has that identity
  restore                        who has written back into a stream that replaces another
  restore --finish --processes N end that, if all processes are connected and none still writes: N is how many run
  revoke --jti ID... [--iss ISSUER] [--exp TIME]
                                 revoke one token, or several: --jti ID --jti ID
  revoke-before [--iss ISSUER] [--sub SUBJECT | --client-id ID | --sid ID] [--time TIME] [--until TIME]
                                 revoke what was issued before a time, by default now
  revoke-before --all            the same, of all tokens that name no issuer
  status                         what the stream says of itself
  compact                        delete entries that nobody needs any more
  export                         every revocation, a line of JSON each
  import                         add the lines that export has printed, from the standard input: all, or none if any is missing

The URL of the store is --url, or else the environment variable REDIS_URL. With Sentinel, add --primary NAME, and --sentinel URL
for each sentinel: host and port are then what they say. TIME is in seconds since 1970, or as
2026-01-31T12:00:00Z. Exit code 1: it was not done; 2: the command line is wrong.`

/** @returns The exit code. */
export async function run(args: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    const { command, values } = readArguments(args)
    if (command === 'help') {
      await surroundings.print(USAGE)
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
  const connection = openConnection(connect(sourceIn(values, environment)), backgroundClock)
  try {
    const stream = openStream(values.stream ?? DEFAULT_STREAM, connection, TIMEOUT)
    await carryOut(command, values, stream, input, async (data) => {
      try {
        await print(JSON.stringify(data))
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException // what a stream throws
        throw new CommandError(`the output could not be written (${code ?? 'unknown'})`)
      }
    })
    return 0
  } catch (error) {
    if (!(error instanceof RevocationStoreError || error instanceof CommandError)) throw error
    say(`portcullis-revocations: ${error.message}`)
    return 1
  } finally {
    connection.close()
  }
}

async function carryOut(
  command: string,
  values: Values,
  stream: Stream,
  input: AsyncIterable<string>,
  print: (data: object) => Promise<void>,
): Promise<void> {
  const { iss, jti = [], sub, sid, 'client-id': client_id } = values
  const [exp, time, until] = [values.exp, values.time, values.until].map(timeOf)
  switch (command) {
    case 'create':
      await print(await create(stream, values))
      break
    case 'restore':
      await print(await restoreStream(stream, endIn(values)))
      break
    case 'revoke': {
      if (jti.length === 0) throw new TypeError('revoke: --jti must be stated')
      const tokens = jti.map((each) => stated({ iss, jti: each, exp }))
      await revokeTokens(stream, tokens, print)
      break
    }
    case 'revoke-before': {
      const whose = { iss, sub, client_id, sid }
      checkWhose(whose, values.all === true)
      await print(await revokeBefore(stream, stated(whose), stated({ time, until })))
      break
    }
    case 'compact':
      await print(await compactStream(stream, backgroundClock.now()))
      break
    case 'export':
      await exportEntries(stream, print)
      break
    case 'import':
      await print(await importEntries(stream, input))
      break
    default:
      await print(await streamStatus(stream))
  }
}

async function create(stream: Stream, { identity, replaces = [] }: Values): Promise<object> {
  if (identity === undefined) return await createStream(stream, replaces)
  if (replaces.length > 0) throw new TypeError('create: state either --identity or --replaces')
  return await checkIdentity(stream, identity)
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

/** Without what is `undefined`. */
function stated<Members extends object>(
  members: Members,
): { [Name in keyof Members]: Exclude<Members[Name], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as never
}
