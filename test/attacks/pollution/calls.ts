import { connect } from 'node:net'

/** A request, and the only status that its answer may have. */
export interface Call {
  readonly path: string
  readonly token: 'none' | 'good' | 'forged' | 'bad'
  readonly status: number
  /** Whether it harms nobody if the request passes: without a token it would. */
  readonly mayPass?: true
}

/** The token that is good is of the issuer that all routes but one trust, and has the scope `read`. */
export const calls: readonly Call[] = [
  { path: '/read', token: 'none', status: 401 },
  { path: '/read', token: 'forged', status: 401 },
  { path: '/read', token: 'good', status: 200, mayPass: true },
  { path: '/other', token: 'good', status: 401 },
  { path: '/optional', token: 'none', status: 200, mayPass: true },
  { path: '/optional', token: 'bad', status: 401, mayPass: true },
  { path: '/optional/scope', token: 'none', status: 401 },
  { path: '/scope', token: 'good', status: 403 },
  { path: '/any', token: 'good', status: 403 },
  { path: '/all', token: 'good', status: 403 },
  { path: '/claim', token: 'good', status: 403 },
  { path: '/check', token: 'good', status: 403 },
  { path: '/remote', token: 'forged', status: 401 },
  { path: '/remote', token: 'good', status: 200, mayPass: true },
  { path: '/read/unknown', token: 'none', status: 401 },
]

export type Tokens = Readonly<Record<Exclude<Call['token'], 'none'>, string>>

/**
 * The statuses that a server answers to all calls, in their order, fewer if it stops to answer: over one connection, since
 * thousands of rounds are made.
 */
export async function statusesOf(
  port: number,
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

function written({ path, token }: Call, tokens: Tokens, isLast: boolean): string {
  return [
    `GET ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    ...(token === 'none' ? [] : [`Authorization: Bearer ${tokens[token]}`]),
    `Connection: ${isLast ? 'close' : 'keep-alive'}`,
    '\r\n',
  ].join('\r\n')
}
