import { type KeyOptions, keyUrlOf } from '../keys/key-choice.ts'
import { inspect, type KeyInspection } from '../keys/key-inspection.ts'
import { CommandError } from '../surroundings/exit-code.ts'
import type { Context } from '../surroundings/terminal.ts'
import type { Checked } from './installed.ts'

// What `doctor` says of AUTH_URL: a token service with one key, an issuer with metadata, or neither; and of the clock there.

export async function checkService(
  options: KeyOptions,
  context: Context,
): Promise<readonly Checked[]> {
  const authUrl = options.authUrl ?? context.env['AUTH_URL']
  if (authUrl === undefined) {
    return [{ name: 'keys', outcome: 'skipped', text: 'AUTH_URL is not set in this environment' }]
  }
  const service = await inspect({ kind: 'url', where: keyUrlOf(authUrl) }, options, context)
  const { where, failure } = service
  if (failure === undefined) return usable(service, where)
  const provider = await issuerAt(authUrl, options, context)
  if (typeof provider === 'string') {
    const text = `${where}: ${failure.detail}; nor is AUTH_URL an issuer with metadata: ${provider}`
    return [{ name: 'keys', outcome: 'problem', text }]
  }
  const name = JSON.stringify(authUrl)
  return [
    ...usable(provider, `AUTH_URL is an issuer, whose keys are at ${provider.discovered?.keyUrl}`),
    {
      name: 'code',
      outcome: 'note',
      text: `write createVerifier({ keys: discoverKeys(${name}), issuer: ${name}, audience }) for it, where audience is the aud of tokens for your API`,
    },
  ]
}

async function issuerAt(issuer: string, options: KeyOptions, context: Context) {
  try {
    const inspection = await inspect({ kind: 'issuer', where: issuer }, options, context)
    return inspection.failure?.detail ?? inspection
  } catch (error) {
    if (error instanceof CommandError && !context.signal.aborted) return error.message
    throw error
  }
}

function usable({ keys, remarks, answer }: KeyInspection, where: string): readonly Checked[] {
  const used = keys.filter((key) => key.unusable === undefined)
  const found = used.map(({ kind, algorithms }) => `${kind}, ${algorithms.join(' ')}`).join('; ')
  return [
    { name: 'keys', outcome: 'ok', text: `${where}: ${found}` },
    ...remarks.map(({ level, text }) => ({ name: 'keys', outcome: level, text })),
    ...clock(answer?.clockDifference, remarks),
  ]
}

function clock(
  clockDifference: number | undefined,
  remarks: KeyInspection['remarks'],
): readonly Checked[] {
  if (clockDifference === undefined || remarks.some(({ text }) => /clock/.test(text))) return []
  const difference = Math.round(clockDifference)
  const text = difference === 0 ? 'as here' : `within ${Math.abs(difference)} s`
  return [{ name: 'clock', outcome: 'ok', text }]
}
