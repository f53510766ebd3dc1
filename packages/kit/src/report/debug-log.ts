import { env } from 'node:process'
import { debuglog } from 'node:util'

// What NODE_DEBUG=portcullis prints. Without it nothing is composed.

const log = debuglog('portcullis')

/**
 * To be asked before anything is composed. On Cloudflare Workers every such log is enabled, whatever `NODE_DEBUG` says.
 */
export function isDebugging(): boolean {
  return log.enabled && (env['NODE_DEBUG'] ?? '') !== ''
}

/** Prints one line, if somebody wants it. It has no token, no claim, no credential and no URL. */
export function debug(line: () => string): void {
  if (isDebugging()) log('%s', line())
}
