import { type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'

import { CommandError, errorCode, EXIT } from '../surroundings/exit-code.ts'
import { withinSeconds } from '../surroundings/interruption.ts'
import type { Context } from '../surroundings/terminal.ts'
import { type ProbeCase, takesBody } from './cases.ts'

// Sends one request of a probe with `node:http`, and reads the answer up to a limit.

export interface Target {
  readonly url: URL
  readonly method: string
  /** Seconds. */
  readonly timeout: number
}

export interface Answer {
  readonly failure: undefined
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The first 64 KiB. */
  readonly body: string
}

export interface NoAnswer {
  /** In words, without anything that was sent. */
  readonly failure: string
}

const MAX_OCTETS = 65_536

/** With any number of `Authorization` headers, which `fetch` would join; follows no redirect. @throws CommandError after Ctrl-C. */
export async function exchange(
  target: Target,
  { authorization, query, form, headers: others, ...probe }: ProbeCase,
  { clock, signal }: Pick<Context, 'clock' | 'signal'>,
): Promise<Answer | NoAnswer> {
  const { url, timeout } = target
  const method = probe.method ?? target.method
  const body = form === undefined ? '' : new URLSearchParams(form).toString()
  return await withinSeconds(timeout, { clock }, async (end) => {
    try {
      const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
        const send = url.protocol === 'https:' ? httpsRequest : httpRequest
        const outgoing = send(withQuery(url, query), {
          method,
          // A list, so that a name may come twice.
          headers: [
            'Host',
            url.host,
            'Accept',
            '*/*',
            'User-Agent',
            'portcullis-probe',
            ...(takesBody(method) ? ['Content-Length', String(body.length)] : []),
            ...(body === '' ? [] : ['Content-Type', 'application/x-www-form-urlencoded']),
            ...Object.entries(others ?? {}).flat(),
            ...authorization.flatMap((value) => ['Authorization', value]),
          ],
          agent: false,
          signal: AbortSignal.any([signal, end]),
        })
        outgoing.on('response', resolve).on('error', reject).end(body)
      })
      const { statusCode: status = 0, headers } = incoming
      return { failure: undefined, status, headers, body: await bodyOf(incoming) }
    } catch (error) {
      if (signal.aborted) throw new CommandError(EXIT.interrupted, 'interrupted')
      if (end.aborted) return { failure: `no answer in ${timeout} s` }
      return { failure: `the connection failed (${errorCode(error) ?? 'unknown'})` }
    }
  })
}

function withQuery(url: URL, query: ProbeCase['query']): URL {
  const asked = new URL(url)
  for (const [name, value] of Object.entries(query ?? {})) asked.searchParams.set(name, value)
  return asked
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= MAX_OCTETS) break
  }
  return Buffer.concat(chunks).subarray(0, MAX_OCTETS).toString('utf8')
}
