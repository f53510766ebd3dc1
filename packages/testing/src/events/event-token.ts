import { randomUUID } from 'node:crypto'

import { checkOptions, isText } from '@portcullis/kit/options'

import type { TestIssuer } from '../issuer.ts'
import { isObject, isTextList } from '../options.ts'
import type { TokenOptions } from '../tokens/token.ts'

// Signs log-out tokens and security event tokens of an issuer, sound or not.

export interface LogoutTokenOptions extends Pick<TokenOptions, 'claims' | 'header' | 'omit'> {
  /** The user who has logged out. */
  sub?: string | undefined
  /** The session that has ended. */
  sid?: string | undefined
}

export interface EventTokenOptions extends Pick<TokenOptions, 'claims' | 'header' | 'omit'> {
  /** The URI of the event's type, or the last part of one of CAEP, RISC or SSF, such as `session-revoked`. */
  type: string
  /** The claim `sub_id`: a subject identifier of RFC 9493. */
  subject?: Readonly<Record<string, unknown>> | undefined
  /** The event itself. Empty by default. */
  event?: Readonly<Record<string, unknown>> | undefined
}

export const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const RISC: ReadonlySet<string> = new Set([
  'account-credential-change-required',
  'account-disabled',
  'account-enabled',
  'account-purged',
  'sessions-revoked',
])

const SSF: ReadonlySet<string> = new Set(['stream-updated', 'verification'])

const CHECKS = { claims: isObject, header: isObject, omit: isTextList }

export async function signLogoutToken(
  issuer: TestIssuer,
  audience: string,
  options: LogoutTokenOptions,
): Promise<string> {
  checkOptions('logoutToken', options, { ...CHECKS, sub: isText, sid: isText })
  const { sub, sid, claims, header, omit } = options
  return await issuer.token({
    claims: {
      aud: audience,
      jti: randomUUID(),
      ...(sub === undefined ? {} : { sub }),
      ...(sid === undefined ? {} : { sid }),
      events: { [LOGOUT_EVENT]: {} },
      ...claims,
    },
    // Section 2.4: a short time, of two minutes at most.
    expiresIn: 120,
    header: { typ: 'logout+jwt', ...header },
    omit,
  })
}

export async function signSecurityEvent(
  issuer: TestIssuer,
  audience: string,
  options: EventTokenOptions,
): Promise<string> {
  checkOptions('securityEvent', options, {
    ...CHECKS,
    type: isText,
    subject: isObject,
    event: isObject,
  })
  const { type, subject, event = {}, claims, header, omit = [] } = options
  if (type === undefined) throw new TypeError('securityEvent: type must be stated')
  const hasExpiry = claims !== undefined && Object.hasOwn(claims, 'exp')
  return await issuer.token({
    claims: {
      aud: audience,
      jti: randomUUID(),
      ...(subject === undefined ? {} : { sub_id: subject }),
      events: { [uriOf(type)]: event },
      ...claims,
    },
    header: { typ: 'secevent+jwt', ...header },
    omit: hasExpiry ? omit : [...omit, 'exp'],
  })
}

export function uriOf(type: string): string {
  if (type.includes(':')) return type
  const profile = RISC.has(type) ? 'risc' : SSF.has(type) ? 'ssf' : 'caep'
  return `https://schemas.openid.net/secevent/${profile}/event-type/${type}`
}
