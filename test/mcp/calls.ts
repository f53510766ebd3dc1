// Requests to an endpoint by hand, where a test has to see what the client of the SDK keeps to itself.

const MESSAGE = {
  initialize: {
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'by hand', version: '1.0.0' },
    },
  },
  whoami: { method: 'tools/call', params: { name: 'whoami', arguments: {} } },
  endless: {
    method: 'tools/call',
    params: { name: 'endless', arguments: {}, _meta: { progressToken: 1 } },
  },
}

export interface Call {
  readonly token: string
  readonly sessionId?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
}

function headersOf({ token, sessionId, headers }: Call): Record<string, string> {
  return {
    authorization: `Bearer ${token}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'mcp-protocol-version': '2025-11-25',
    ...(sessionId === undefined ? {} : { 'mcp-session-id': sessionId }),
    ...headers,
  }
}

export async function post(
  url: string,
  message: keyof typeof MESSAGE,
  call: Call,
): Promise<Response> {
  return await postText(url, JSON.stringify({ jsonrpc: '2.0', id: 1, ...MESSAGE[message] }), call)
}

/** A body as it is written. */
export async function postText(url: string, body: string, call: Call): Promise<Response> {
  return await fetch(url, { method: 'POST', headers: headersOf(call), body })
}

/** GET opens a stream of events; DELETE ends the session. */
export async function ask(url: string, method: 'GET' | 'DELETE', call: Call): Promise<Response> {
  return await fetch(url, { method, headers: headersOf(call) })
}

/** Begins a session, and returns its id. */
export async function begin(url: string, token: string): Promise<string> {
  const answer = await post(url, 'initialize', { token })
  await answer.text()
  const id = answer.headers.get('mcp-session-id')
  if (id === null) throw new Error(`no session: ${answer.status}`)
  return id
}

/** Reads a stream: resolves with its first event, and `ended` with how it ends. */
export async function listen(answer: Response): Promise<{ first: string; ended: Promise<string> }> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (reader === undefined) throw new Error('no stream')
  const { value = '' } = await reader.read()
  const toEnd = async (): Promise<string> => {
    try {
      while (!(await reader.read()).done);
      return 'closed'
    } catch {
      return 'cut'
    }
  }
  return { first: value, ended: toEnd() }
}
