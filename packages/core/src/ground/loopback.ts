// Decides where `http:` is allowed without `allowInsecure`.

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Whether a host, as `URL` spells it, is this machine: what goes there without TLS crosses no network. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.has(hostname)
}
