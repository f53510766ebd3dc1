import { BlockList, isIP } from 'node:net'

// Which hosts are this machine. Whether a secret is sent or demanded depends on it.

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
