import { BlockList, isIP } from 'node:net'

import { usageError } from '../surroundings/exit-code.ts'

// The secret of the control interface, and which hosts are this machine: on that depends whether it is sent or demanded.

const VISIBLE = /^[\x21-\x7e]+$/
/** Characters. */
const SHORTEST = 16

/** The secret of the control interface that a user has set; `undefined` if none is set. @throws CommandError */
export function statedSecret({
  PORTCULLIS_SECRET: secret = '',
}: {
  readonly PORTCULLIS_SECRET?: string | undefined
}): string | undefined {
  if (secret === '') return undefined
  if (!VISIBLE.test(secret)) {
    throw usageError('PORTCULLIS_SECRET must have visible ASCII characters alone')
  }
  return secret
}

/** Others can try as many as they like. @throws CommandError */
export function checkStrength(secret: string): void {
  if (secret.length < SHORTEST) {
    throw usageError(
      `PORTCULLIS_SECRET must have at least ${SHORTEST} characters where others can reach the service; without it, serve makes one`,
    )
  }
}

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** Whether nobody on the way can read what is sent to a URL. */
export function isConfidential({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || isLoopback(hostname)
}

/** Whether a host is this machine and nothing else can reach it: an address, or the name that browsers resolve themselves. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1')
  const version = isIP(address)
  if (version === 0) return address.toLowerCase() === 'localhost'
  return LOOPBACK.check(address, version === 6 ? 'ipv6' : 'ipv4')
}
