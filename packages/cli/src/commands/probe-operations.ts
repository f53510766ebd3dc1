import type { Algorithm } from '@portcullis/core'
import { createTestIssuer } from '@portcullis/testing'
import { InvalidArgumentError } from 'commander'

import { readTextFile } from '../input/named-file.ts'
import { orUsage } from '../keys/key-choice.ts'
import { type Operation, readDescription } from '../openapi/description.ts'
import { lacksScope } from '../openapi/security.ts'
import { ofHeaders, ofToken, type ProbeCase } from '../probe/cases.ts'
import { claimsIn } from '../probe/claims.ts'
import { exchange } from '../probe/exchange.ts'
import type { Probed } from '../probe/judgement.ts'
import { type AskedOperation, judgeOperations } from '../probe/operations.ts'
import { printOperations, probeJson } from '../probe/report.ts'
import { usageError } from '../surroundings/exit-code.ts'
import { printableJson } from '../surroundings/printable.ts'
import type { Context } from '../surroundings/terminal.ts'
import {
  checkReached,
  claimsLike,
  EXIT_CODES,
  goodToken,
  type ProbeOptions,
  targetOf,
  warnOf,
} from './probe-options.ts'

// The command `probe --openapi`: asks each operation of a description a few times, and hands the answers to probe/, which judges them.

export async function probeOperations(
  text: string,
  options: ProbeOptions & { readonly openapi: string },
  context: Context,
): Promise<void> {
  const { terminal } = context
  const own = await goodToken(options, context)
  const target = targetOf(text, options, own !== undefined)
  if (target.url.search !== '') throw usageError('with --openapi, the URL must have no query')
  const { asked, open, notAsked } = readDescription(await readTextFile(options.openapi, context), {
    url: target.url,
    values: options.value ?? {},
    unsafeMethods: options.unsafeMethods === true,
  })
  const forged = await forgedToken(own, options, context)
  warnOf(asked.length, terminal)
  const operations: AskedOperation[] = []
  for (const operation of asked) {
    const { url, method } = operation
    const scopesUntested = whyNoScopes(operation, own)
    const lacking = scopesUntested === undefined && hasScopes(operation) ? own : undefined
    const probes: Probed[] = []
    for (const probe of casesOf(operation, forged, lacking)) {
      const answer = await exchange({ ...target, url, method }, probe, context)
      if (operations.length === 0 && probes.length === 0) checkReached(answer)
      probes.push({ probe, answer, refusal: undefined, isAccepted: undefined })
    }
    operations.push({ name: operation.name, probes, scopesUntested })
  }
  const { url } = target
  const findings = judgeOperations(operations, open, notAsked)
  const report = { ...findings, url: `${url.origin}${url.pathname}` }
  if (options.json === true) terminal.print(printableJson(probeJson(report), 2))
  else printOperations(report, terminal)
  terminal.say('No token is in this report.')
  context.exitWith(EXIT_CODES[findings.verdict])
}

/** With the claims of the right one, so that nothing but the key is wrong with it. */
async function forgedToken(own: string | undefined, options: ProbeOptions, { clock }: Context) {
  const algorithm = (options.algorithm?.[0] ?? 'RS512') as Algorithm // looked at by the issuer
  const issuer = await orUsage(async () => await createTestIssuer({ algorithm, clock }))
  return await issuer.token({ claims: claimsLike(own, options) })
}

function casesOf(
  { name }: Operation,
  forged: string,
  lacking: string | undefined,
): readonly ProbeCase[] {
  return [
    ofHeaders(`${name}: no token`, 'missing'),
    ofToken(`${name}: another key`, 'unproven', forged),
    ...(lacking === undefined ? [] : [ofToken(`${name}: your token`, 'lacking', lacking)]),
  ]
}

/** Whether every alternative needs one. */
function hasScopes({ security }: Operation): boolean {
  return lacksScope(security, new Set())
}

/** Why there is no token that lacks a scope of an operation. `undefined` if there is one, or if the operation needs no scope. */
function whyNoScopes(operation: Operation, own: string | undefined): string | undefined {
  if (!hasScopes(operation)) return undefined
  if (own === undefined) return 'state a token of yours that lacks some: --file, --env or --stdin'
  const granted = grantedTo(own)
  if (granted === undefined) return 'your token does not say which scopes it has'
  return lacksScope(operation.security, granted) ? undefined : 'your token has them'
}

/** By what the token says, which nothing has proven. */
function grantedTo(token: string): ReadonlySet<string> | undefined {
  const { scope, scp } = claimsIn(token)
  if (scope === undefined && scp === undefined) return undefined
  return new Set(
    [scope, scp].flatMap((claim: unknown) =>
      typeof claim === 'string' ? claim.split(' ') : claim,
    ),
  ) as ReadonlySet<string>
}

/** An option of the form name=text. */
export function parameterValue(text: string, before: Readonly<Record<string, string>> = {}) {
  const [, name, value] = /^([^=]+)=(.+)$/s.exec(text) ?? []
  if (name === undefined || value === undefined) {
    throw new InvalidArgumentError('It must be a name, = and a text.')
  }
  // A definition, since a name may be any text.
  return Object.fromEntries([...Object.entries(before), [name, value]])
}
