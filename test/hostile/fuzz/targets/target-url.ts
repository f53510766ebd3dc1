import fc from 'fast-check'

import { createUrlCheck } from '../../../../packages/core/src/dpop/target-url.ts'
import { anyCharacter, mostly } from '../inputs.ts'
import { type FuzzTarget, hold } from '../target.ts'

const ORIGIN = 'https://example.com'
const isSame = createUrlCheck([ORIGIN])
const isSameBelow = createUrlCheck([`${ORIGIN}/api`])

const piece = fc.oneof(
  fc.constantFrom('/', '//', '.', '..', '%2e', '%2F', '%41', '%', '?', '#', '@', ':443', '\\'),
  fc.constantFrom('a', 'api', 'A', '~', '%7E', '\t', '\n', 'example.com', 'é', '\u212A', '[::1]'),
  fc.string({ maxLength: 3, unit: anyCharacter }),
)
const path = fc.array(piece, { maxLength: 8 }).map((pieces) => `/${pieces.join('')}`)
const url = fc.tuple(
  mostly(fc.constantFrom('https://example.com', 'HTTPS://EXAMPLE.com:443'), fc.string()),
  mostly(path, fc.string()),
)

/** Two lines: the `htu` of a proof, and the target of a request. */
export const targetUrl: FuzzTarget = {
  inputs: fc.tuple(url, path).map(([stated, asked]) => `${stated.join('')}\n${asked}`),
  run(input) {
    const at = input.lastIndexOf('\n')
    const [htu, target] = [input.slice(0, at), input.slice(at + 1)]
    if (hasDots(target)) {
      hold(!isSame(htu, target) && !isSameBelow(htu, target), 'dot segments fit no proof')
      return
    }
    // Each path is that of its own URL, if that is one without tricks.
    if (/^\/(?!\/)[\w./~-]*$/.test(target)) {
      hold(isSame(`${ORIGIN}${target}`, target), 'a path is that of its own URL')
      hold(isSameBelow(`${ORIGIN}/api${target}`, target), 'also below a prefix')
    }
    if (isSame(htu, target)) {
      hold(URL.canParse(htu) && new URL(htu).origin === ORIGIN, 'no other server is taken for ours')
    }
    if (isSameBelow(htu, target)) {
      const { pathname } = new URL(htu)
      hold(/^\/(?:%61|a)(?:%70|p)(?:%69|i)(?:\/|$)/i.test(pathname), 'nothing leaves the prefix')
    }
    const isSwapped = isSame(`${ORIGIN}${target}`, htu.slice(ORIGIN.length))
    hold(
      !htu.startsWith(`${ORIGIN}/`) ||
        hasDots(htu) ||
        isSame(htu, target) === isSwapped ||
        /[?#]/.test(input),
      'both are read alike',
    )
  },
}

/** Whether the path has segments that a client would have resolved. */
function hasDots(text: string): boolean {
  const [plain = ''] = text.split('?', 1)
  return plain.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment))
}
