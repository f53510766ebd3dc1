import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { slug } from 'github-slugger'

import { ADVICE } from '../packages/core/src/explain/advice-table.ts'
import { AuthError } from '../packages/core/src/refusal/errors.ts'
import { authErrorReasons, refusals } from '../packages/core/src/refusal/refusals.ts'
import { root } from './entries.ts'
import { tableOf } from './parts.ts'

// The tables of ERRORS.md: what refusals.ts and advice-table.ts say, and the headers that a client gets.

/** Every code, its status and its challenge, and which reasons the client reads. */
export function tableOfCodes(): string {
  const rows = Object.entries(refusals).map(([code, { status, reasons }]) => {
    const [told, others] = [true, false].map((isTold) =>
      Object.entries(reasons)
        .filter(([, text]) => (text !== null) === isTold)
        .map(([reason]) => `\`${reason}\``)
        .join(', '),
    )
    return [`\`${code}\``, String(status), challengeOf(code), told || 'none', others || 'none']
  })
  return tableOf(
    ['`code`', 'Status', 'Challenge', 'Reasons that the client reads', 'For your logs alone'],
    rows,
  )
}

/** The scheme and the error of the headers; the realm and the description are in each challenge. */
function challengeOf(code: string): string {
  const [reasons = []] = [Object.entries(authErrorReasons).find(([name]) => name === code)?.[1]]
  const pair = [code, reasons[0]] as unknown as ConstructorParameters<typeof AuthError>
  const { headers } = new AuthError(...pair)
  const { 'WWW-Authenticate': challenge, 'Retry-After': pause } = headers
  if (challenge === undefined) return pause === undefined ? 'none' : 'none; `Retry-After`'
  const [, scheme = '', , error = ', no error code'] =
    /^(\w+) realm="[^"]*"(, (error="\w+"))?/.exec(challenge) ?? []
  return error.startsWith('error') ? `\`${scheme}\` with \`${error}\`` : `\`${scheme}\`${error}`
}

/**
 * What each reason of a code means, and what each side does.
 *
 * @throws Error for what is no code.
 */
export function tableOfReasons(code: string): string {
  const advice = new Map(Object.entries(ADVICE).map(([name, row]) => [name, Object.entries(row)]))
  const found = advice.get(code)
  if (found === undefined) throw new Error(`there is no code ${code}`)
  const links = headingsOfOperating()
  return tableOf(
    ['Reason', 'It means', 'The client', 'Whoever runs the API'],
    found.map(([reason, { means, client, operator }]) => [
      `<a id="${code}-${reason}"></a>\`${reason}\``,
      means,
      client,
      linked(operator, links),
    ]),
  )
}

/** The headings of OPERATING.md, which are the texts of links to it, by what follows `#` in one. */
function headingsOfOperating(): ReadonlyMap<string, string> {
  const document = readFileSync(join(root, 'packages/core/OPERATING.md'), 'utf8')
  const headings = document.matchAll(/^#+ (.*)/gm)
  return new Map([...headings].map(([, heading = '']) => [slug(heading), heading]))
}

/** With each place of OPERATING.md as a link that has its heading as text. */
function linked(text: string, links: ReadonlyMap<string, string>): string {
  return text.replaceAll(
    /OPERATING\.md#([\w-]+)/g,
    (place, anchor: string) => `[${links.get(anchor) ?? ''}](${place})`,
  )
}
