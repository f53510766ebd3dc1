import { ofHeaders, type Place, type ProbeCase, takesBody } from './cases.ts'

// Requests without a token that an API has to read: none, one at a place where none may be, and other methods.

export function withoutToken(forged: string, method: string): readonly ProbeCase[] {
  const bearer = `Bearer ${forged}`
  return [
    { name: 'no token', kind: 'missing', authorization: [], token: undefined },
    ofHeaders('another scheme: Basic', 'missing', 'Basic cG9ydGN1bGxpczpwcm9iZQ=='),
    ofHeaders('Bearer without a token', 'malformed', 'Bearer'),
    ofHeaders('two words after Bearer', 'malformed', `${bearer} ${forged}`),
    ofHeaders('two headers', 'invalid_request', bearer, bearer),
    { ...ofHeaders(FORGED_IN_QUERY, 'missing'), query: { access_token: forged } },
    ...(takesBody(method)
      ? [{ ...ofHeaders(FORGED_IN_FORM, 'missing'), form: { access_token: forged } }]
      : []),
    // Where GET needs a token. What another method needs says nothing of HEAD.
    ...(method === 'GET'
      ? [
          { ...ofHeaders('HEAD, no token', 'head'), method: 'HEAD' as const },
          { ...ofHeaders('HEAD, another key', 'head', bearer), method: 'HEAD' as const },
        ]
      : []),
    ...(method === 'OPTIONS' ? [] : [preflight(method)]),
  ]
}

export const FORGED_IN_QUERY = 'a forged one in ?access_token='
export const FORGED_IN_FORM = 'a forged one in a form'

/** As a browser asks before a request of another origin. */
function preflight(method: string): ProbeCase {
  return {
    ...ofHeaders('OPTIONS, no token', 'options'),
    method: 'OPTIONS',
    headers: {
      Origin: 'https://portcullis-probe.invalid',
      'Access-Control-Request-Method': method,
      'Access-Control-Request-Headers': 'authorization',
    },
  }
}

/** Of all that APIs have been seen to read. */
const SCHEMES = ['Basic', 'DPoP', 'Token', 'JWT'] as const

/** @param disposable A token that may get into a log: URLs do. */
export function placesOfToken(
  own: string,
  name: string,
  method: string,
  disposable: string | undefined,
): readonly ProbeCase[] {
  return [
    ...SCHEMES.map((scheme) => elsewhere(`${name}, scheme ${scheme}`, `${scheme} ${own}`)),
    elsewhere(`${name}, no scheme`, own),
    ...(disposable === undefined
      ? []
      : [{ ...ofHeaders(IN_QUERY, 'elsewhere'), ...inQuery(disposable) }]),
    ...(takesBody(method)
      ? [{ ...ofHeaders(`${name} in a form`, 'elsewhere'), ...inForm(own) }]
      : []),
  ]
}

const IN_QUERY = 'minted token in ?access_token='

function elsewhere(name: string, authorization: string): ProbeCase {
  return {
    ...ofHeaders(name, 'elsewhere', authorization),
    check: 'other schemes',
    accepted: [
      'problem',
      'let through, though it is not sent as a Bearer token (RFC 6750 section 2.1)',
    ],
  }
}

function inQuery(token: string) {
  return {
    query: { access_token: token },
    check: '?access_token=' satisfies Place,
    accepted: QUERY_IS_READ,
  } as const
}

function inForm(token: string) {
  return {
    form: { access_token: token },
    check: 'access_token in a form' satisfies Place,
    accepted: FORM_IS_READ,
  } as const
}

export const FORM_IS_READ = [
  'warning',
  'a token in a form is read: no API should that is not made for browsers alone (RFC 6750 section 2.2)',
] as const

export const QUERY_IS_READ = [
  'problem',
  'a token in the URL is read, which gets into logs (RFC 9700 section 4.3.2)',
] as const
