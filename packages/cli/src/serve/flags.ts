import { parseJson } from '@portcullis/kit/json'
import type { Login } from '@portcullis/testing'
import { InvalidArgumentError } from 'commander'

import { seconds } from '../input/seconds.ts'
import { usageError } from '../surroundings/exit-code.ts'
import type { ServeSettings } from './settings.ts'

// What the words of a command line mean. Errors of these are shown by commander, with the name of the option.

export function port(text: string): number {
  const value = Number(text)
  if (!/^\d{1,5}$/.test(text) || value > 65_535) {
    throw new InvalidArgumentError('It must be a port from 0 to 65535.')
  }
  return value
}

export function duration(text: string): number {
  const value = seconds(text)
  if (value < 0) throw new InvalidArgumentError('It must be 0 or more.')
  return value
}

export function count(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    throw new InvalidArgumentError('It must be a whole number, 1 or more.')
  }
  return Number(text)
}

export function login(text: string, before: ReadonlyMap<string, Login> | undefined) {
  const [loginId, password] = named(text, '--login must be id:password')
  return new Map([...(before ?? []), [loginId, { password }]])
}

export function opaque(text: string, before: ServeSettings['opaque'] | undefined) {
  const [clientId, secret] = named(text, '--opaque must be client:secret')
  if (secret === '') throw usageError('--opaque must be client:secret')
  return new Map([...(before ?? []), [clientId, { secret }]])
}

/** Commander would show the text, which may be a password. */
function named(text: string, complaint: string): readonly [name: string, secret: string] {
  const [, name = '', secret] = /^([^:]+):(.*)$/s.exec(text) ?? []
  if (secret === undefined) throw usageError(complaint)
  return [name, secret]
}

/** The value is JSON where it can be read as that, else text: `roles=["admin"]`, `scope=locations:write`. */
export function claim(text: string, before: Readonly<Record<string, unknown>> | undefined) {
  const [, name = '', value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (value === undefined) throw new InvalidArgumentError('It must be name=value.')
  const parsed = parseJson(value)
  return Object.fromEntries([
    ...Object.entries(before ?? {}),
    [name, parsed === undefined ? value : parsed],
  ])
}

export function audience(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), notEmpty(text)]
}

export function notEmpty(text: string): string {
  if (text === '') throw new InvalidArgumentError('It must not be empty.')
  return text
}

export function response(text: string): ServeSettings['response'] {
  if (text === 'text' || text === 'json') return text
  const [, field] = /^json:(.+)$/.exec(text) ?? []
  if (field === undefined) throw new InvalidArgumentError('It must be text, json or json:field.')
  return { field }
}
