import { subscribe, unsubscribe } from 'node:diagnostics_channel'

import { checkOptions, isClock, isFunction, isText } from '@portcullis/kit/options'

import { backgroundClock, type Clock } from './clock.ts'
import { platformFetch } from './platform-fetch.ts'
import type { TokenService } from './service/emulation.ts'
import { createVerdictTally, type VerdictReport } from './verdict-tally.ts'

// Sends the verdicts of a process to `portcullis serve`, over HTTP and at intervals.

export interface ReportVerdictsOptions {
  /** Where `portcullis serve` listens, such as `http://127.0.0.1:4010`. It must be this machine. */
  url: string
  /** The name of this API in the log. */
  name?: string | undefined
  /** The secret that `serve` needs if other machines can reach it. */
  secret?: string | undefined
  fetch?: TokenService['fetch'] | undefined
  clock?: Clock | undefined
}

export interface VerdictReports extends AsyncDisposable {
  /** Sends the reports that still wait, and stops. */
  close(): Promise<void>
}

/** Seconds. */
const PAUSE = 0.25
const LONGEST_PAUSE = 30
const TIMEOUT = 5

/**
 * Reports the verdicts of every verifier in this process to `portcullis serve`, which shows them in its console and its log.
 * For development. It sends `code`, `reason` and `detail` of refusals, and no token.
 *
 * It keeps at most 50 different verdicts, and counts the others. If the service does not answer, it tries less and less often. It
 * changes no verdict, throws nothing after the start, and does not keep the process alive.
 *
 * @throws TypeError for a wrong or misspelt option, and for a URL of another machine, so that nothing is reported in
 *   production.
 */
export function reportVerdicts(options: ReportVerdictsOptions): VerdictReports {
  const settings = settingsOf(options)
  const { clock } = settings
  const tally = createVerdictTally()
  let cancelTimer: (() => void) | undefined
  let sending: Promise<void> | undefined
  let failures = 0
  let isClosed = false

  function onVerdict(message: unknown): void {
    tally.add(message)
    schedule()
  }

  function schedule(): void {
    if (isClosed || cancelTimer !== undefined || sending !== undefined) return
    const pause = failures === 0 ? PAUSE : Math.min(2 ** failures, LONGEST_PAUSE)
    cancelTimer = clock.after(pause, () => {
      cancelTimer = undefined
      void send()
    })
  }

  async function send(): Promise<void> {
    const report = tally.take()
    if (report === undefined) return
    sending = deliver(report)
    await sending
    sending = undefined
    if (!tally.isEmpty()) schedule()
  }

  async function deliver(report: VerdictReport): Promise<void> {
    const isDelivered = await post(report, settings)
    failures = isDelivered ? 0 : failures + 1
    if (!isDelivered) tally.lose(report)
  }

  async function close(): Promise<void> {
    if (isClosed) return
    isClosed = true
    unsubscribe('portcullis:verify', onVerdict)
    cancelTimer?.()
    await sending
    await send()
  }

  subscribe('portcullis:verify', onVerdict)
  return { close, [Symbol.asyncDispose]: close }
}

async function post(
  report: VerdictReport,
  { target, headers, name, fetch, clock }: ReturnType<typeof settingsOf>,
): Promise<boolean> {
  const end = new AbortController()
  const cancel = clock.after(TIMEOUT, () => {
    end.abort()
  })
  try {
    const body = JSON.stringify({ api: name, ...report })
    const { signal } = end
    const settings = { method: 'POST', redirect: 'error', cache: 'no-store' } as const
    const response = await fetch(target, { ...settings, headers, body, signal })
    await response.body?.cancel()
    return response.ok
  } catch {
    // The API goes on whether anybody looks or not.
    return false
  } finally {
    cancel()
  }
}

function settingsOf(options: ReportVerdictsOptions) {
  checkOptions('reportVerdicts', options, {
    url: wrongUrl,
    name: isText,
    secret: isText,
    fetch: isFunction,
    clock: isClock,
  })
  const { url, name, secret, clock = backgroundClock } = options
  if (url === undefined) throw new TypeError('reportVerdicts: url must be stated')
  const { fetch = platformFetch } = options
  const headers = new Headers({ 'content-type': 'application/json' })
  if (secret !== undefined) headers.set('authorization', `Bearer ${secret}`)
  return { target: new URL('/control/verdicts', url), headers, name, fetch, clock }
}

/** Without the value. */
function wrongUrl(value: unknown): string | undefined {
  const expected = 'must be like http://127.0.0.1:4010'
  if (typeof value !== 'string' || !URL.canParse(value)) return expected
  const { protocol, hostname, username, password } = new URL(value)
  const isOnThisMachine = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)
  if (protocol !== 'http:' || !isOnThisMachine) return expected
  if (username === '' && password === '') return undefined
  return 'must not contain a user or a password: state the secret of serve as `secret`'
}
