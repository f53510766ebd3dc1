import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { resolve } from 'node:path'

import { parseJson } from '@portcullis/kit/json'
import type { IntrospectionService, ListeningTokenService, Routes } from '@portcullis/testing'
import type { Command } from 'commander'

import { readNamedFile } from '../input/named-file.ts'
import { seconds } from '../input/seconds.ts'
import { createPages } from '../pages/pages.ts'
import { createControl } from '../serve/control.ts'
import { eventLine } from '../serve/event-line.ts'
import { loginCommand } from '../serve/explain-token.ts'
import * as flags from '../serve/flags.ts'
import { createGate, createHostCheck } from '../serve/gate.ts'
import { InputError } from '../serve/input.ts'
import { readKeyFile, writeSecretFile } from '../serve/key-file.ts'
import { createKeyKeeper } from '../serve/key-keeper.ts'
import { checkStrength, isLoopback, statedSecret } from '../serve/secret.ts'
import { createService, type Service } from '../serve/service.ts'
import {
  type Configuration,
  readConfiguration,
  type ServeFlags,
  settingsOf,
} from '../serve/settings.ts'
import { CommandError, errorCode, EXIT, usageError } from '../surroundings/exit-code.ts'
import { printableJson } from '../surroundings/printable.ts'
import type { Context } from '../surroundings/terminal.ts'

// The command `serve`: from the command line to a service that listens, and its end. What it can do is in serve/.

interface ServeOptions extends Omit<ServeFlags, 'audience' | 'claims' | 'logins'> {
  readonly audience?: readonly string[]
  readonly port: number
  readonly host: string
  readonly login?: ServeFlags['logins']
  readonly claim?: ServeFlags['claims']
  readonly config?: string
  readonly privateKeyFile?: string
  readonly readyFile?: string
  readonly json?: boolean
}

const DEFAULT_PORT = 4010
const DEFAULT_HOST = '127.0.0.1'
const MAX_CONFIGURATION_OCTETS = 1024 * 1024

export function registerServe(command: Command, context: Context): void {
  command
    .option('-p, --port <port>', 'the port; 0 takes a free one', flags.port, DEFAULT_PORT)
    .option('--host <host>', 'the address to listen on', flags.notEmpty, DEFAULT_HOST)
    .option(
      '-l, --login <id:password>',
      'who can log in, repeatable (default: demo:demo)',
      flags.login,
    )
    .option(
      '--opaque <client:secret>',
      'logins bring opaque tokens, which this client may ask about; repeatable',
      flags.opaque,
    )
    .option('-c, --config <file>', 'logins with claims, lifetimes, faults: JSON')
    .option('--lifetime <time>', 'from iat to exp (default: 5m)', seconds)
    .option('--issuer <iss>', 'the claim iss (default: none)', flags.notEmpty)
    .option('--audience <aud>', 'the claim aud, repeatable (default: none)', flags.audience)
    .option('--claim <name=value>', 'in every token, repeatable; JSON or text', flags.claim)
    .option('--response <form>', 'text, json or json:field (default: text)', flags.response)
    .option('--private-key-file <file>', 'keep the private key there across restarts')
    .option('--ready-file <file>', 'write the URLs there once it listens: JSON')
    .option('--json', 'print what happens as lines of JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  portcullis serve\n  portcullis serve --port 0 --login ada:secret --claim scope=read',
    )
    .action(async (options: ServeOptions) => {
      await serve(options, context)
    })
}

async function serve(options: ServeOptions, context: Context): Promise<void> {
  const { env, terminal, signal } = context
  if (env['NODE_ENV']?.trim().toLowerCase() === 'production') {
    throw usageError('serve signs any token for anybody: it does not run with NODE_ENV=production')
  }
  const secret = secretFor(options, context)
  const service = await createdService(options, context)
  const gate = createGate(secret)
  const parts = [createControl(service, gate), createPages(service, gate), createHostCheck(secret)]
  const listening = await listen(service, options, async (...asked) => {
    for (const part of parts) {
      const response = await part(...asked)
      if (response !== undefined) return response
    }
    return undefined
  })
  const unwatch = service.log.watch((event) => {
    if (options.json === true) terminal.print(printableJson(event))
    else terminal.say(eventLine(event))
  })
  const { authUrl, keyUrl, introspectionUrl } = listening
  const ready = { type: 'ready', pid: process.pid, authUrl, keyUrl, introspectionUrl }
  const readyFile = options.readyFile && resolve(context.cwd, options.readyFile)
  try {
    // First, so that who reads the line finds the file.
    if (readyFile) await writeSecretFile(readyFile, `${JSON.stringify({ ...ready, secret })}\n`)
    if (options.json === true) terminal.print(printableJson(ready))
    else announce(listening, options, secret !== undefined, context)
    if (!signal.aborted) await once(signal, 'abort')
  } finally {
    unwatch()
    await listening.close()
    await service.close()
    if (readyFile) await rm(readyFile, { force: true })
  }
}

function secretFor({ host }: ServeOptions, { env, terminal }: Context): string | undefined {
  if (isLoopback(host)) return undefined
  const stated = statedSecret(env)
  if (stated !== undefined) checkStrength(stated)
  terminal.say(`warning: on ${host} others in the network can log in, and learn what tokens are`)
  if (stated !== undefined) return stated
  const secret = randomBytes(24).toString('base64url')
  terminal.say(`for the other commands and the console: PORTCULLIS_SECRET=${secret}`)
  return secret
}

async function createdService(options: ServeOptions, context: Context): Promise<Service> {
  const { clock, cwd, fetch, terminal } = context
  const { login, claim, config, audience: stated, ...others } = options
  const audience = stated?.length === 1 ? stated[0] : stated
  const configuration = config === undefined ? {} : await readConfigurationFile(config, context)
  const settings = settingsOf({ ...others, audience, logins: login, claims: claim }, configuration)
  const path =
    options.privateKeyFile === undefined ? undefined : resolve(cwd, options.privateKeyFile)
  const key = path === undefined ? undefined : await readKeyFile(path)
  let isStarted = false
  const keeper = createKeyKeeper(path, (failure) => {
    // At the start it is what the program ends with.
    if (isStarted) terminal.say(`portcullis: ${failure}`)
  })
  try {
    const service = await createService(settings, clock, key, keeper, fetch)
    for (const fault of settings.faults) service.fault(fault)
    isStarted = true
    return service
  } catch (error) {
    // What is left to be wrong: the key and its file, and faults that there are not.
    const isTheirs = [InputError, TypeError].some((each) => error instanceof each)
    throw isTheirs && error instanceof Error ? usageError(error.message) : error
  }
}

async function readConfigurationFile(path: string, context: Context): Promise<Configuration> {
  const octets = await readNamedFile(path, context)
  if (octets.length > MAX_CONFIGURATION_OCTETS) throw usageError(`${path} is too large`)
  const value = parseJson(octets.toString('utf8'))
  if (value === undefined) throw usageError(`${path} is not JSON`)
  try {
    return readConfiguration(value, path)
  } catch (error) {
    throw error instanceof InputError ? usageError(error.message) : error
  }
}

/** A service of JWTs alone has no URL of introspection. */
type Listening = ListeningTokenService & Partial<Pick<IntrospectionService, 'introspectionUrl'>>

async function listen(
  { tokens }: Service,
  { host, port }: ServeOptions,
  routes: Routes,
): Promise<Listening> {
  return await tokens.listen({ host, port, routes }).catch((error: unknown) => {
    const where = `${host}:${port}`
    const code = errorCode(error)
    throw code === 'EADDRINUSE'
      ? new CommandError(EXIT.undecided, `${where} is taken; --port 0 takes a free one`)
      : new CommandError(EXIT.undecided, `cannot listen on ${where} (${code ?? 'unknown'})`)
  })
}

function announce(
  listening: Listening,
  { login, config }: ServeOptions,
  isSecret: boolean,
  { terminal }: Context,
): void {
  const { authUrl, keyUrl } = listening
  terminal.print(authUrl)
  terminal.say('A token service for development and tests; Ctrl-C ends it.')
  const entry = isSecret ? ' (any user; the password is PORTCULLIS_SECRET)' : ''
  terminal.say(`  console ${authUrl}/${entry}`)
  terminal.say(`  key     curl ${keyUrl}`)
  terminal.say(`  issuer  curl ${authUrl}/.well-known/openid-configuration`)
  // Only the login that everybody knows is shown with its password.
  const isDemo = login === undefined && config === undefined
  terminal.say(
    `  log in  ${isDemo ? loginCommand(authUrl, 'demo', 'demo') : loginCommand(authUrl)}`,
  )
  const { introspectionUrl } = listening
  if (introspectionUrl === undefined) return
  terminal.say(`  ask     curl -u client:secret -d token=... ${introspectionUrl}`)
}
