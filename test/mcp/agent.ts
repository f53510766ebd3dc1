import {
  Client as Client2,
  DpopSession,
  type OAuthClientProvider,
  StreamableHTTPClientTransport as Transport2,
} from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

import { AGENT, REDIRECT } from './authorization-server.ts'
import { visit } from './browser.ts'

// A client of the Model Context Protocol with a user: that of the SDK, in both majors, with what an application has to bring along.

/** What the client keeps between its connections. */
interface Kept {
  tokens?: Awaited<ReturnType<OAuthClientProvider['tokens']>>
  verifier?: string
  discovered?: Awaited<ReturnType<Required<OAuthClientProvider>['discoveryState']>>
  /** The page that the user is to open. */
  page?: URL
  registered?: Awaited<ReturnType<OAuthClientProvider['clientInformation']>>
}

export interface Agent {
  readonly kept: Kept
  /** Connects, and lets the user log in if the server wants that. */
  connect(url: string): Promise<Connection>
  /** Lets the user open the page that the server has asked for. */
  logIn(connection: Connection): Promise<void>
}

interface Connection {
  /** The text that a tool answers with. */
  call(tool: string, args?: Record<string, unknown>): Promise<string>
  finish(query: URLSearchParams): Promise<void>
  readonly sessionId: string | undefined
  readonly client: Client1 | Client2
  readonly transport: Transport1 | Transport2
}

export type Major = 1 | 2

interface AgentOptions {
  /** Whether its tokens are bound to a key of its own. The first major of the SDK cannot do that. */
  readonly proves?: boolean
  /** What the authorization server knows it by. */
  readonly clientId?: string | undefined
  /** What it and the browser of its user reach others by. */
  readonly fetch?: typeof globalThis.fetch
}

/**
 * @param major Of the SDK. With 2 it speaks the revision 2026-07-28 where the server does.
 * @param issuer The authorization server that knows it. Without one it registers itself.
 */
export function createAgent(
  major: Major,
  issuer?: string,
  { proves = false, clientId = AGENT, fetch = globalThis.fetch }: AgentOptions = {},
): Agent {
  const kept: Kept = issuer === undefined ? {} : { registered: { client_id: clientId, issuer } }
  const session = proves ? DpopSession.create() : undefined
  const provider = providerOf(kept)
  const authProvider = session === undefined ? provider : { ...provider, dpop: () => session }

  async function open(url: string): Promise<Connection> {
    const target = new URL(url)
    if (major === 1) {
      const client = new Client1({ name: 'agent', version: '1.0.0' })
      const transport = new Transport1(target, { authProvider, fetch })
      return connectionOf(client, transport, async () => await client.connect(transport))
    }
    const client = new Client2(
      { name: 'agent', version: '1.0.0' },
      { versionNegotiation: { mode: 'auto' } },
    )
    const transport = new Transport2(target, { authProvider, fetch })
    return connectionOf(client, transport, async () => await client.connect(transport))
  }

  async function logIn(connection: Connection): Promise<void> {
    const { page } = kept
    if (page === undefined) throw new Error('nobody has asked the user to log in')
    delete kept.page
    await connection.finish(await visit(page, REDIRECT, fetch))
  }

  return {
    kept,
    logIn,
    async connect(url) {
      try {
        return await open(url)
      } catch (error) {
        if (kept.page === undefined) throw error
        const transport = transportOf(major, url, { authProvider, fetch })
        await logIn({ finish: finishing(transport) } as Connection)
        return await open(url)
      }
    },
  }
}

function transportOf(
  major: Major,
  url: string,
  options: {
    readonly authProvider: OAuthClientProvider
    readonly fetch: typeof globalThis.fetch
  },
) {
  return major === 1 ? new Transport1(new URL(url), options) : new Transport2(new URL(url), options)
}

function finishing(transport: Transport1 | Transport2) {
  return async (query: URLSearchParams) =>
    await (transport instanceof Transport1
      ? transport.finishAuth(query.get('code') ?? '')
      : transport.finishAuth(query))
}

async function connectionOf(
  client: Client1 | Client2,
  transport: Transport1 | Transport2,
  connect: () => Promise<void>,
): Promise<Connection> {
  await connect()
  return {
    client,
    transport,
    finish: finishing(transport),
    get sessionId() {
      return transport.sessionId
    },
    async call(name, args = {}) {
      const { content } = await client.callTool({ name, arguments: args })
      return (content as readonly { readonly text: string }[])[0]?.text ?? ''
    },
  }
}

function providerOf(kept: Kept): OAuthClientProvider {
  return {
    redirectUrl: REDIRECT,
    clientMetadata: {
      client_name: 'agent',
      redirect_uris: [REDIRECT],
      grant_types: ['authorization_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    clientInformation: () => kept.registered,
    saveClientInformation(information) {
      kept.registered = information
    },
    tokens: () => kept.tokens,
    saveTokens(tokens) {
      kept.tokens = tokens
    },
    redirectToAuthorization(page) {
      kept.page = page
    },
    saveCodeVerifier(verifier) {
      kept.verifier = verifier
    },
    codeVerifier: () => kept.verifier ?? '',
    discoveryState: () => kept.discovered,
    saveDiscoveryState(discovered) {
      kept.discovered = discovered
    },
  }
}
