import type { LaunchOptions } from 'playwright-core'

/** Debian's, without the parts that only a window needs: tests take two thirds of the time. */
const PROGRAM = '/usr/bin/chromium-headless-shell'

/** @param args Further ones. */
export function launchOptions(...args: readonly string[]): LaunchOptions {
  return {
    executablePath: PROGRAM,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      // What it would ask of the network by itself.
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...args,
    ],
  }
}
