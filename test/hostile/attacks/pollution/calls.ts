import { connect } from 'node:net'

/** A request, and which statuses its answer may have, without any pollution. */
export interface Call {
  readonly path: string
  readonly token:
    | 'none'
    | 'good'
    | 'forged'
    | 'bad'
    | 'bound'
    | 'certified'
    | 'opaque'
    | 'invented'
    | 'logout'
    | 'forged logout'
    | 'event'
  /** Under the scheme `DPoP`, with a proof of the client's key, of a thief's, or with none. */
  readonly proof?: 'own' | 'other' | 'none'
  /** In this header, and not in `Authorization`. */
  readonly header?: string
  readonly statuses: readonly number[]
  /** Whether it harms nobody if the request passes: without a token it would. */
  readonly mayPass?: true
}

/** What every token names, also a forged one. */
export const ISSUER = 'https://auth.test'

/** Where clients find `/bound`, and when they make their proofs, which stays now: one proof is good for all rounds. */
export const ORIGIN = 'https://api.test'
export const PROOF_TIME = 1_767_225_600

/** The one token that the issuer of `/opaque` says is active; whoever has it is an editor. */
export const OPAQUE = 'opaque_token'

/** The client that events are for. */
export const AUDIENCE = 'client'

/** Where `/stated` finds its token. */
export const HEADER = 'x-stated-token'

/** The applications of each framework: guarded scopes beside each other, and one guard for everything; and what is no guard. */
export type AppName = 'scopes' | 'whole' | 'others'

/** The token that is good is of the issuer that all scopes but one trust, and has the scope `read`. */
const scopeCalls: readonly Call[] = [
  { path: '/read', token: 'none', statuses: [401] },
  { path: '/read', token: 'forged', statuses: [401] },
  { path: '/read', token: 'good', statuses: [200], mayPass: true },
  { path: '/other', token: 'good', statuses: [401] },
  { path: '/optional', token: 'none', statuses: [200], mayPass: true },
  { path: '/optional', token: 'bad', statuses: [401], mayPass: true },
  { path: '/optional-scope', token: 'none', statuses: [401] },
  { path: '/scope', token: 'good', statuses: [403] },
  { path: '/any', token: 'good', statuses: [403] },
  { path: '/all', token: 'good', statuses: [403] },
  { path: '/claim', token: 'good', statuses: [403] },
  { path: '/check', token: 'good', statuses: [403] },
  { path: '/remote', token: 'forged', statuses: [401] },
  { path: '/remote', token: 'good', statuses: [200], mayPass: true },
  { path: '/tenants', token: 'forged', statuses: [401] },
  { path: '/tenants', token: 'good', statuses: [200], mayPass: true },
  { path: '/not-revoked', token: 'good', statuses: [200], mayPass: true },
  { path: '/revoked', token: 'good', statuses: [401] },
  { path: '/revoked-later', token: 'good', statuses: [401] },
  { path: '/revoked-of-tenant', token: 'good', statuses: [401] },
  { path: '/undecided', token: 'good', statuses: [503] },
  { path: '/read', token: 'bound', statuses: [401] },
  { path: '/bound', token: 'bound', statuses: [401] },
  { path: '/bound', token: 'bound', proof: 'none', statuses: [401] },
  { path: '/bound', token: 'bound', proof: 'other', statuses: [401] },
  { path: '/bound', token: 'bound', proof: 'own', statuses: [200], mayPass: true },
  { path: '/bound', token: 'good', proof: 'own', statuses: [401] },
  { path: '/bound-alone', token: 'good', statuses: [401] },
  { path: '/stated', token: 'good', statuses: [401] },
  { path: '/stated', token: 'forged', header: HEADER, statuses: [401] },
  { path: '/stated', token: 'good', header: HEADER, statuses: [200], mayPass: true },
  { path: '/opaque', token: 'invented', statuses: [401] },
  { path: '/opaque', token: 'forged', statuses: [401] },
  { path: '/opaque', token: 'opaque', statuses: [200], mayPass: true },
  { path: '/opaque-of-nobody', token: 'opaque', statuses: [401] },
  { path: '/opaque-wrong', token: 'opaque', statuses: [503] },
  { path: '/certified', token: 'good', statuses: [401] },
  { path: '/certified', token: 'certified', statuses: [401] },
]

const wholeCalls: readonly Call[] = [
  { path: '/', token: 'none', statuses: [401] },
  { path: '/', token: 'good', statuses: [200], mayPass: true },
  // Frameworks differ in whether a guard sees a request for no route.
  { path: '/unknown', token: 'none', statuses: [401, 404] },
]

const otherCalls: readonly Call[] = [
  { path: '/logout', token: 'forged logout', statuses: [400] },
  { path: '/logout', token: 'good', statuses: [400] },
  { path: '/logout', token: 'logout', statuses: [200], mayPass: true },
  { path: '/event', token: 'logout', statuses: [400] },
  { path: '/event', token: 'event', statuses: [202], mayPass: true },
  { path: '/event-of-strangers', token: 'event', statuses: [401] },
  { path: '/mcp', token: 'none', statuses: [401] },
  { path: '/mcp', token: 'forged', statuses: [401] },
  { path: '/mcp', token: 'good', statuses: [200], mayPass: true },
  { path: '/mcp-elsewhere', token: 'good', statuses: [401] },
  { path: '/mcp-scope', token: 'good', statuses: [403] },
  { path: '/mcp-tool', token: 'none', statuses: [401] },
  { path: '/mcp-tool', token: 'good', statuses: [200], mayPass: true },
  { path: '/mcp-other-tool', token: 'good', statuses: [403] },
  { path: '/mcp-of-others', token: 'good', statuses: [401] },
  { path: '/mcp-session', token: 'good', statuses: [404] },
  { path: '/granted-nothing', token: 'none', statuses: [502] },
  { path: '/sent-elsewhere', token: 'none', statuses: [502] },
  { path: '/of-a-foreign-issuer', token: 'none', statuses: [502] },
]

export const CALLS: Readonly<Record<AppName, readonly Call[]>> = {
  scopes: scopeCalls,
  whole: wholeCalls,
  others: otherCalls,
}

/** What the program of servers.ts serves. */
export interface Listening {
  readonly framework: string
  /** Names of the values under which its answers may change, whatever the name. Nobody may get in under them either. */
  readonly fails: readonly string[]
  readonly app: AppName
  readonly port: number
}

export interface Tokens extends Readonly<Record<Exclude<Call['token'], 'none'>, string>> {
  /** For the token `bound`. */
  readonly proofs: Readonly<Record<'own' | 'other', string>>
}

/**
 * The statuses that a server answers to calls, in their order, fewer if it stops to answer: over one connection, since
 * thousands of rounds are made.
 */
export async function statusesOf(
  { port, calls }: { readonly port: number; readonly calls: readonly Call[] },
  tokens: Tokens,
  deadline: number,
): Promise<readonly number[]> {
  const socket = connect(port, '127.0.0.1')
  socket.setTimeout(deadline * 1000, () => socket.destroy())
  let text = ''
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
  })
  socket.on('error', () => undefined)
  socket.write(calls.map((call, at) => written(call, tokens, at === calls.length - 1)).join(''))
  // `once` would reject for a connection that is reset.
  await new Promise((resolve) => socket.on('close', resolve))
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
}

function written(call: Call, tokens: Tokens, isLast: boolean): string {
  const { path, token, proof, header } = call
  const scheme = proof === undefined ? 'Bearer' : 'DPoP'
  const before = header === undefined ? `Authorization: ${scheme}` : `${header}:`
  return [
    `GET ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    ...(token === 'none' ? [] : [`${before} ${tokens[token]}`]),
    ...(proof === undefined || proof === 'none' ? [] : [`DPoP: ${tokens.proofs[proof]}`]),
    `Connection: ${isLast ? 'close' : 'keep-alive'}`,
    '\r\n',
  ].join('\r\n')
}
