import type { LaunchOptions } from 'playwright-core'

import { pathOf } from '../../installed.ts'

/** Debian's. The first has no part that only a window needs, and tests take two thirds of the time with it. */
const PROGRAMS = ['chromium-headless-shell', 'chromium'] as const

/** The one that is installed, or the first. */
export const BROWSER = PROGRAMS.find((program) => pathOf(program) !== undefined) ?? PROGRAMS[0]

/** Milliseconds: when a test gives up what it waits for in a browser, also on a machine that is busy. */
export const BROWSER_LIMIT = 100_000

/** @param args Further ones. */
export function launchOptions(...args: readonly string[]): LaunchOptions {
  return {
    executablePath: pathOf(BROWSER) ?? BROWSER,
    timeout: BROWSER_LIMIT,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      // Pages of one site share a process, as tabs do where there are many: to start one takes half a second. Other sites have theirs.
      '--renderer-process-limit=1',
      '--in-process-gpu',
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
