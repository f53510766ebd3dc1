import type { RevokedToken } from '@portcullis/core'
import type { RedisRevocations } from '@portcullis/redis'
import type { Command } from 'commander'

import { readToken, takesToken, type TokenOptions } from '../input/token-input.ts'
import { partOf } from '../input/unread-json.ts'
import * as flags from '../serve/flags.ts'
import { CommandError, EXIT, usageError } from '../surroundings/exit-code.ts'
import { printable } from '../surroundings/printable.ts'
import type { Context } from '../surroundings/terminal.ts'
import { openStream, redisUrlOf, type StreamOptions, takesStream } from './redis-stream.ts'

// The command `revoke`: writes one revocation to the Redis stream that APIs follow.

interface RevokeOptions extends TokenOptions, StreamOptions {
  readonly iss?: string
  readonly sub?: string
  readonly clientId?: string
  readonly sid?: string
}

export function registerRevoke(command: Command, context: Context): void {
  takesStream(takesToken(command))
    .option('--sub <sub>', 'instead: all tokens of a subject that were issued before now')
    .option('--client-id <id>', 'the same of a client')
    .option('--sid <sid>', 'the same of a session')
    .option('--iss <iss>', 'the issuer of those (default: tokens that name none)', flags.notEmpty)
    .addHelpText(
      'after',
      '\nExamples:\n  portcullis revoke < token.txt\n  portcullis revoke --sub ada --iss https://auth.example.com',
    )
    .action(async (argument: string | undefined, options: RevokeOptions) => {
      await revoke(argument, options, context)
    })
}

async function revoke(argument: string | undefined, options: RevokeOptions, context: Context) {
  // Before a token is read, which a user may have to type.
  redisUrlOf(options, context)
  const owner = ownerIn(options)
  if (owner !== undefined && (argument ?? options.file ?? options.env) !== undefined) {
    throw usageError('state a token, or whose tokens, not both')
  }
  if (owner === undefined && options.iss !== undefined) {
    throw usageError('--iss goes with --sub, --client-id or --sid; a token names its issuer itself')
  }
  const revocation =
    owner === undefined ? await ofToken(argument, options, context) : ofOwner(owner)
  const revocations = await openStream(options, context)
  const { RevocationStoreError } = await import('@portcullis/redis')
  try {
    await revocation.write(revocations)
    context.terminal.say(printable(`revoked: ${revocation.what}`))
  } catch (error) {
    if (error instanceof RevocationStoreError) throw new CommandError(EXIT.undecided, error.message)
    // Claims that are no texts or times.
    throw error instanceof TypeError ? usageError(error.message) : error
  } finally {
    await revocations.close()
  }
}

interface Revocation {
  readonly what: string
  readonly write: (revocations: RedisRevocations) => Promise<void>
}

type Owner = Parameters<RedisRevocations['revokeBefore']>[0]

function ownerIn({ iss, sub, clientId, sid }: RevokeOptions): Owner | undefined {
  const named = Object.entries({ sub, client_id: clientId, sid }).filter(
    ([, value]) => value !== undefined,
  )
  if (named.length > 1) throw usageError('state one of --sub, --client-id and --sid')
  return named.length === 0 ? undefined : { ...Object.fromEntries(named), iss }
}

function ofOwner(owner: Owner): Revocation {
  return {
    what: `what was issued before now, for ${JSON.stringify(owner)}`,
    write: async (revocations) => {
      await revocations.revokeBefore(owner)
    },
  }
}

/** What the token says, unproven: it decides nothing but which token is revoked. */
async function ofToken(
  argument: string | undefined,
  options: TokenOptions,
  context: Context,
): Promise<Revocation> {
  const { token } = await readToken(argument, options, context)
  const claims = token.split('.', 4).length === 3 ? partOf(token, 'payload') : undefined
  if (typeof claims !== 'object' || claims === null) throw usageError('this is no JSON Web Token')
  // Of anybody's JSON: `revoke` says what is wrong with the others.
  const { iss, jti, exp }: Partial<RevokedToken> = claims
  if (typeof jti !== 'string' || jti === '') {
    throw usageError('this token has no jti that could name it; --sub revokes all of a user')
  }
  return {
    what: `the token ${jti}`,
    write: async (revocations) => {
      await revocations.revoke({ iss, jti, exp })
    },
  }
}
