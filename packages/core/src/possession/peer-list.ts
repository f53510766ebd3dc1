import net from 'node:net'

import type { OptionCheck } from '@portcullis/kit/options'

// Lists of IP addresses, to tell whose headers are believed.

/** Checks a list of addresses and blocks of addresses. A name is none: it would have to be asked for at each request. */
export const isPeerList: OptionCheck = (value) => {
  if (!Array.isArray(value) || value.length === 0) {
    return "must be a list of addresses or blocks of them, such as ['10.0.0.0/8', '::1']"
  }
  for (const each of value) {
    const block = typeof each === 'string' ? parseBlock(each) : undefined
    if (block === undefined) {
      return `must list IP addresses or blocks of them, and ${JSON.stringify(each)} is none`
    }
    if (isEverybody(block)) return `must not list every peer, as ${JSON.stringify(each)} does`
  }
  return undefined
}

/** The list has passed {@link isPeerList}. An IPv4 address is the same where a socket writes it as IPv6 (`::ffff:10.0.0.1`). */
export function peerList(list: readonly string[]): (address: unknown) => boolean {
  const blocks = blockListOf(list.map(parseBlock))
  return (address) => {
    const family = familyOf(address)
    return family !== undefined && blocks.check(address as string /* it has one */, family)
  }
}

function blockListOf(blocks: readonly (Block | undefined)[]): net.BlockList {
  // Through the module: not every platform that runs this package has the class.
  const list = new net.BlockList()
  for (const block of blocks) {
    if (block !== undefined) list.addSubnet(block.address, block.prefix, block.family)
  }
  return list
}

interface Block {
  readonly address: string
  readonly family: 'ipv4' | 'ipv6'
  readonly prefix: number
}

function parseBlock(text: string): Block | undefined {
  const { address = '', length } =
    /^(?<address>[^/%]+)(?:\/(?<length>\d{1,3}))?$/.exec(text)?.groups ?? {}
  const family = familyOf(address)
  if (family === undefined) return undefined
  const longest = family === 'ipv4' ? 32 : 128
  const prefix = length === undefined ? longest : Number(length)
  return prefix <= longest ? { address, family, prefix } : undefined
}

/** Of one family at least: blocks of IPv6 can contain all of IPv4 (`::ffff:0:0/96`). */
function isEverybody(block: Block): boolean {
  const blocks = blockListOf([block])
  return block.prefix === 0 || ['0.0.0.0', '255.255.255.255'].every((end) => blocks.check(end))
}

function familyOf(address: unknown): Block['family'] | undefined {
  if (typeof address !== 'string') return undefined
  const version = net.isIP(address)
  return version === 0 ? undefined : version === 4 ? 'ipv4' : 'ipv6'
}
