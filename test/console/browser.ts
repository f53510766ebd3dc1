import type { LaunchOptions } from 'playwright-core'

/** Debian's, without what it would ask of the network by itself. */
const PROGRAM = '/usr/bin/chromium'

export const BROWSER: LaunchOptions = {
  executablePath: PROGRAM,
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
}
