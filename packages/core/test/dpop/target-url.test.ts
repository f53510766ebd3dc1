import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { createUrlCheck, isOrigin } from '../../src/dpop/target-url.ts'

const API = 'https://api.example.com'
const DEEP = 'https://example.com/api'

type Row = readonly [what: string, htu: unknown, target: unknown, origin?: string | string[]]

function isSame(htu: unknown, target: unknown, origin: string | string[] = API): boolean {
  return createUrlCheck([origin].flat())(htu, target)
}

type Inputs = readonly [htu: unknown, target: unknown, origin?: string | string[]]

function titled(rows: readonly Row[]): (readonly [what: string, inputs: Inputs])[] {
  return rows.map(([what, ...inputs]) => [what, inputs])
}

const SAME: readonly Row[] = [
  ['as it was asked for', `${API}/a/b`, '/a/b'],
  ['the root', `${API}/`, '/'],
  ['the root without its slash', API, '/'],
  ['a query in the target', `${API}/a`, '/a?b=c&d'],
  ['a query in the proof', `${API}/a?b=c`, '/a'],
  ['another query in the proof', `${API}/a?b=c`, '/a?d=e'],
  ['a query right behind the host', `${API}?b`, '/'],
  ['a fragment in the proof', `${API}/a#b`, '/a'],
  ['a URL in the query of the target', `${API}/a`, '/a?u=https://evil.test/x?y#z'],
  ['the scheme in another case', 'HTTPS://api.example.com/a', '/a'],
  ['the host in another case', 'https://API.Example.COM/a', '/a'],
  ['a host of the option in another case', `${API}/a`, '/a', 'https://API.example.com'],
  ['the default port', `${API}:443/a`, '/a'],
  ['an empty port', `${API}:/a`, '/a'],
  ['the default port of http', 'http://localhost:80/a', '/a', 'http://localhost'],
  ['the default port in the option', `${API}/a`, '/a', `${API}:443`],
  ['another port', `${API}:8443/a`, '/a', `${API}:8443`],
  ['a letter that is escaped in the proof', `${API}/%61/%7Eb`, '/a/~b'],
  ['a letter that is escaped in the target', `${API}/a/~b`, '/%61/%7eb'],
  ['an escape in small letters', `${API}/%c3%a4`, '/%C3%A4'],
  ['an escaped letter of the host', 'https://%61pi.example.com/a', '/a'],
  ['a dot segment in the proof', `${API}/a/./b`, '/a/b'],
  ['an escaped dot segment in the proof', `${API}/a/%2e%2E/b`, '/b'],
  ['a dot segment at the end', `${API}/a/b/..`, '/a/'],
  ['a dot at the end', `${API}/a/.`, '/a/'],
  ['more dot segments than there are segments', `${API}/../../a`, '/a'],
  ['a dot segment behind an empty one', `${API}/a//../b`, '/a/b'],
  ['three dots, which are a name', `${API}/.../a`, '/.../a'],
  ['empty segments', `${API}//a//b/`, '//a//b/'],
  ['a target that looks like another server', `${API}//evil.test/x`, '//evil.test/x'],
  ['an escaped slash', `${API}/a%2fb`, '/a%2Fb'],
  ['an escaped percent sign', `${API}/a%2541`, '/a%2541'],
  ['an escaped NUL', `${API}/a%00`, '/a%00'],
  ['semicolon and equals sign', `${API}/a;b=c`, '/a;b=c'],
  ['characters that browsers do not escape', `${API}/a|b[c]`, '/a|b[c]'],
  ['an at sign in the path', `${API}/@me/x@y`, '/@me/x@y'],
  ['a colon in the path', `${API}/a:b`, '/a:b'],
  ['a target in absolute form', `${API}/a`, 'http://other.test:81/a?b'],
  ['a target in absolute form with a longer path', `${API}/a/b`, 'http://other.test/a/b'],
  ['a target in absolute form without a path', `${API}/`, 'https://other.test'],
  ['an address of IPv6', 'https://[2001:db8::1]/a', '/a', 'https://[2001:db8::1]'],
  [
    'an address of IPv6 in full',
    'https://[2001:0DB8:0:0:0:0:0:1]:443/a',
    '/a',
    'https://[2001:db8::1]',
  ],
  ['an address of IPv4 in IPv6', 'http://[::ffff:1.2.3.4]/a', '/a', 'http://[::ffff:102:304]'],
  ['a name of another script', 'https://xn--bcher-kva.example/a', '/a', 'https://bücher.example'],
  ['a prefix', `${DEEP}/a`, '/a', DEEP],
  ['a prefix with a slash at its end', `${DEEP}/a`, '/a', `${DEEP}/`],
  ['a prefix, escaped', 'https://example.com/%61pi/a', '/a', DEEP],
  ['the root below a prefix', `${DEEP}/`, '/', DEEP],
  ['the prefix itself', DEEP, '/', DEEP],
  ['a dot segment behind a prefix', `${DEEP}/x/../a`, '/a', DEEP],
  ['the second of two origins', `${API}/a`, '/a', [DEEP, API]],
  ['the first of two origins', `${DEEP}/a`, '/a', [DEEP, API]],
  ['a host with a dot at its end, stated so', 'https://a.example./x', '/x', 'https://a.example.'],
]

const OTHER: readonly Row[] = [
  ['another path', `${API}/b`, '/a'],
  ['another case of the path', `${API}/A`, '/a'],
  ['a slash at the end of the proof', `${API}/a/`, '/a'],
  ['a slash at the end of the target', `${API}/a`, '/a/'],
  ['a longer path', `${API}/a/b`, '/a'],
  ['a shorter path', `${API}/a`, '/a/b'],
  ['a slash that is escaped in the proof', `${API}/a%2Fb`, '/a/b'],
  ['a slash that is escaped in the target', `${API}/a/b`, '/a%2fb'],
  ['a dot segment in the target, which may be a name to its router', `${API}/b`, '/a/../b'],
  ['an escaped dot segment in the target', `${API}/b`, '/a/%2e%2E/b'],
  ['a dot segment in both', `${API}/a/../b`, '/a/../b'],
  ['a single dot in the target', `${API}/a/b`, '/a/./b'],
  ['a dot at the end of the target', `${API}/a/`, '/a/.'],
  ['a dot segment in a target in absolute form', `${API}/b`, 'http://other.test/a/../b'],
  ['a backslash in a target in absolute form', `${API}/b`, String.raw`http://other.test\a/b`],
  ['dot segments in a target, which would leave the prefix', `${DEEP}/a`, '/../a', DEEP],
  ['escapes of escapes', `${API}/%2561`, '/a'],
  ['an escaped question mark', `${API}/a%3Fb`, '/a'],
  ['empty segments that are left out', `${API}/a/b`, '/a//b'],
  ['another scheme', 'http://api.example.com/a', '/a'],
  ['another host', 'https://evil.test/a', '/a'],
  ['a host below ours', 'https://x.api.example.com/a', '/a'],
  ['a host that ours begins with', 'https://api.example.co/a', '/a'],
  ['a host that begins with ours', 'https://api.example.com.evil.test/a', '/a'],
  ['a host with a dot at its end', 'https://api.example.com./a', '/a'],
  ['another port', `${API}:8443/a`, '/a'],
  ['the port of the other scheme', `${API}:80/a`, '/a'],
  ['the default port with zeros', `${API}:0443/a`, '/a'],
  ['a port that is no number', `${API}:x/a`, '/a'],
  ['userinfo', 'https://user:secret@api.example.com/a', '/a'],
  ['an empty userinfo', 'https://@api.example.com/a', '/a'],
  ['our host as userinfo', 'https://api.example.com@evil.test/a', '/a'],
  ['our host and port as userinfo', 'https://api.example.com:443@evil.test/a', '/a'],
  ['a backslash for a slash', String.raw`https://api.example.com\a`, '/a'],
  ['a backslash before the host', String.raw`https:\\api.example.com/a`, '/a'],
  ['a backslash in both paths', `${API}/a\\b`, '/a\\b'],
  ['a backslash and userinfo', String.raw`https://evil.test\@api.example.com/a`, '/a'],
  ['no scheme', '//api.example.com/a', '/a'],
  ['a path alone', '/a', '/a'],
  ['one slash behind the scheme', 'https:/api.example.com/a', '/a'],
  ['no slash behind the scheme', 'https:api.example.com/a', '/a'],
  ['three slashes behind the scheme', 'https:///api.example.com/a', '/a'],
  ['no host', 'https://', '/'],
  ['another protocol', 'wss://api.example.com/a', '/a'],
  ['a file', 'file:///a', '/a'],
  ['white space before it', ` ${API}/a`, '/a'],
  ['white space behind it', `${API}/a `, '/a'],
  ['white space in it', `${API}/a b`, '/a b'],
  ['a tab, which `URL` leaves out', `${API}/\ta`, '/a'],
  ['a line feed, which `URL` leaves out', `https://api.exam\nple.com/a`, '/a'],
  ['NUL', `${API}/a\0`, '/a'],
  ['NUL in both', `${API}/a\0`, '/a\0'],
  ['a letter beyond ASCII in both', `${API}/ä`, '/ä'],
  ['a letter beyond ASCII that is escaped in the target', `${API}/ä`, '/%C3%A4'],
  ['the Kelvin sign for a k', 'https://\u212Aey.example/a', '/a', 'https://key.example'],
  ['full-width letters in the host', 'https://ａpi.example.com/a', '/a'],
  [
    'a name of another script, not in ASCII',
    'https://bücher.example/a',
    '/a',
    'https://bücher.example',
  ],
  ['a percent sign without digits', `${API}/a%`, '/a%'],
  ['a percent sign with one digit', `${API}/a%4`, '/a%4'],
  ['a percent sign with other letters', `${API}/a%zz`, '/a%zz'],
  ['another address of IPv6', 'https://[::2]/a', '/a', 'https://[::1]'],
  ['an address of IPv6 with a zone', 'https://[::1%25eth0]/a', '/a', 'https://[::1]'],
  ['a text in brackets that is no address', 'https://[1:2]/a', '/a', 'https://[::1]'],
  ['an address of IPv4 as one number', 'http://2130706433/a', '/a', 'http://127.0.0.1'],
  ['an address of IPv4 in hexadecimal', 'http://0x7f.1/a', '/a', 'http://127.0.0.1'],
  ['the path without the prefix', 'https://example.com/a', '/a', DEEP],
  ['the prefix twice', `${DEEP}/api/a`, '/a', DEEP],
  ['a prefix that only begins alike', 'https://example.com/apis/a', '/a', DEEP],
  ['the prefix in another case', 'https://example.com/API/a', '/a', DEEP],
  ['a dot segment that leaves the prefix', `${DEEP}/../a`, '/a', DEEP],
  [
    'a dot segment in the target that would leave the prefix',
    'https://example.com/a',
    '/../a',
    DEEP,
  ],
  ['the prefix of one origin with the host of another', `${API}/api/a`, '/a', [DEEP, API]],
  ['nothing', undefined, '/a'],
  ['null', null, '/a'],
  ['an empty text', '', '/a'],
  ['a number', 1, '/a'],
  ['a list of the URL', [`${API}/a`], '/a'],
  ['an object that says the URL', { toString: () => `${API}/a` }, '/a'],
  ['a target with a fragment', `${API}/a`, '/a#b'],
  ['the target of OPTIONS *', `${API}/*`, '*'],
  ['the target of OPTIONS *, as the root', API, '*'],
  ['the target of CONNECT', `${API}/`, 'api.example.com:443'],
  ['a target without a slash', `${API}/a`, 'a'],
  ['an empty target', API, ''],
  ['a target of query alone', API, '?a'],
  ['no target', API, undefined],
  ['no target, below a prefix', `${DEEP}undefined`, undefined, DEEP],
  ['the prefix alone, where more was asked for', DEEP, '/a', DEEP],
  ['a backslash behind the host of the target', API, String.raw`http://other.test\a`],
  ['a scheme behind another character', `${API}/a`, '*http://other.test/a'],
  ['a scheme with a character that none has', `${API}/a`, 'ht*tp://other.test/a'],
  ['a target that is no text', `${API}/a`, { toString: () => '/a' }],
  ['an absolute target of another path', `${API}/a`, `${API}/b`],
  ['an absolute target without a host', `${API}/a`, 'https:///a'],
]

describe('the URL of a proof', () => {
  test.each(titled(SAME))('is that of the request: %s', (_, [htu, target, origin]) => {
    expect(isSame(htu, target, origin)).toBe(true)
  })

  test.each(titled(OTHER))('is not that of the request: %s', (_, [htu, target, origin]) => {
    expect(isSame(htu, target, origin)).toBe(false)
  })

  // A reading in quadratic time would need longer than a test may take.
  test.each(['/..', '/.', '//', '/%2e', '%', '[', ':', '@', '/a'])(
    'is read in linear time: %s, 40,000 times',
    (text) => {
      const long = text.repeat(40_000)
      expect(isSame(`${API}${long}`, long)).toBe(['//', '/a'].includes(text))
    },
  )
})

describe('properties', () => {
  const segment = fc.oneof(
    fc.constantFrom('.', '..', '', '%2e', '%2F', 'a', '~', '%7e', '%C3%A4', ';', '@', ':'),
    fc.webSegment(),
  )
  const path = fc.array(segment, { maxLength: 6 }).map((segments) => `/${segments.join('/')}`)

  test('a client that `URL` tells what it asked for is understood', () => {
    fc.assert(
      fc.property(path, (asked) => {
        const sent = new URL(`${API}${asked}`)
        expect(isSame(sent.href, sent.pathname)).toBe(true)
        expect(isSame(`${API}${asked}`, sent.pathname)).toBe(true)
      }),
    )
  })

  test('what is taken for one URL is one resource of one server for `URL` as well', () => {
    fc.assert(
      fc.property(path, path, (stated, asked) => {
        const decoded = (text: string) =>
          new URL(`${API}${text.replaceAll(/%7e/gi, '~')}`).pathname.replaceAll(/%../g, (octet) => {
            const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16))
            return /[\w.~-]/.test(character) ? character : octet.toUpperCase()
          })
        const hasDots = /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(asked)
        expect(isSame(`${API}${stated}`, asked)).toBe(
          decoded(stated) === decoded(asked) && !hasDots,
        )
      }),
    )
  })

  test('no text of any kind makes it fail, and none that `URL` finds elsewhere is ours', () => {
    // `binary` of fast-check makes a table of all characters first, which takes a second.
    const anyCharacter = fc.nat(0x10_ff_ff).map((point) => String.fromCodePoint(point))
    const text = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.webUrl(),
      fc.string().map((end) => API + end),
    )
    fc.assert(
      fc.property(text, text, (htu, target) => {
        if (!isSame(htu, target)) return
        expect(new URL(htu).origin).toBe(API)
      }),
    )
  })
})

describe('the option origin', () => {
  test.each([
    API,
    `${API}/`,
    DEEP,
    'http://localhost:3000',
    'https://[::1]:8443/a/b',
    'https://bücher.example',
  ])('takes %s', (origin) => {
    expect(isOrigin(origin)).toBeUndefined()
  })

  test.each([
    ['', 'is not an absolute URL'],
    ['api.example.com', 'is not an absolute URL'],
    ['https://undefined', 'unset'],
    ['https://undefined/api', 'unset'],
    ['wss://api.example.com', 'http or https'],
    ['https://user:secret@api.example.com', 'without credentials'],
    ['https://user@api.example.com', 'without credentials'],
    ['https://:secret@api.example.com', 'without credentials'],
    [`${API}?a`, 'query'],
    [`${API}?`, 'query'],
    [`${API}#`, 'fragment'],
    [String.raw`https://example.com\api`, 'http or https URL without'],
    [undefined, 'must be a URL'],
    [new URL(API), 'must be a URL'],
    [{}, 'must be a URL'],
  ])('does not take %s', (origin, complaint) => {
    expect(isOrigin(origin)).toContain(complaint)
    expect(isOrigin(origin)).not.toContain('secret')
  })
})
