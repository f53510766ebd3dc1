import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import type { TestIssuer } from '@portcullis/testing'

// What `ended-requests.ts` of the consumer must answer on workerd, which ends the I/O of a request with it: no request may fail because
// of another one that has ended. Real time, since workerd has no other.

/** An authorization server that takes its time, and does not answer some requests at all. */
interface SlowServer extends AsyncDisposable {
  readonly url: string
  /** The paths of the requests that it got. */
  readonly asked: string[]
  /** How many it could not answer, because they were cut off. */
  readonly cut: () => number
  /** Lets the next request whose path begins so hang. When it has come, a request of the path `/leave` is answered. */
  readonly hang: (path: string) => void
}

const DELAY = 250

export async function slowServer(issuer: TestIssuer): Promise<SlowServer> {
  const asked: string[] = []
  let hanging: string | undefined
  let left: (() => void) | undefined
  let cut = 0
  const answers: Readonly<Record<string, (url: string) => unknown>> = {
    '/keys/': () => issuer.publicJwk,
    '/tenant': () => 'found',
    '/introspect': (url) => ({ active: true, iss: url, sub: 'ada', exp: Date.now() / 1000 + 3600 }),
    '/.well-known/': (url) => ({
      issuer: url,
      introspection_endpoint: `${url}/introspect`,
      token_endpoint: `${url}/token`,
    }),
    '/tokenservice/token/api': async () => await issuer.token({ expiresIn: 3 }),
    '/token': () => ({ access_token: `t${asked.length}`, token_type: 'Bearer', expires_in: 3 }),
  }
  const server: Server = createServer((request, response) => {
    const { url: path = '' } = request
    if (path === '/leave') {
      left = () => response.end()
      if (hanging === undefined) left()
      return
    }
    asked.push(path)
    const isHung = hanging !== undefined && path.startsWith(hanging)
    if (isHung) {
      hanging = undefined
      left?.()
    }
    let isAnswered = isHung
    response.on('close', () => {
      if (!isAnswered) cut++
    })
    const [, answer] = Object.entries(answers).find(([start]) => path.startsWith(start)) ?? []
    if (isHung || answer === undefined) return
    request.resume().on('end', () => {
      setTimeout(() => {
        void (async () => {
          isAnswered = true
          const body = await answer(url)
          if (typeof body === 'string') response.end(body)
          else response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
        })()
      }, DELAY)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    asked,
    cut: () => cut,
    hang(path) {
      hanging = path
      left = undefined
    },
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

const pause = async (milliseconds: number) =>
  await new Promise<void>((resolve) => {
    setTimeout(resolve, milliseconds)
  })

/** The guards of Hono and the clients, and what they wait for when the first request gives up. */
const WAYS = [
  ['jwt', '/keys/jwt'],
  ['tenants', '/tenant'],
  ['opaque', '/.well-known/'],
  ['opaque', '/introspect'],
  ['login', '/tokenservice/'],
  ['oauth', '/.well-known/'],
  ['oauth', '/token'],
] as const

/**
 * @param made Where the guards and clients are made: outside of a request, or at the first.
 * @param start Starts the program anew, and answers with its URL.
 */
export async function expectNoFailureOfOthers(
  server: SlowServer,
  issuer: TestIssuer,
  made: 'outside' | 'first',
  start: (ask: (url: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  const jwt = await issuer.token({ claims: { iss: 'https://auth.test' }, expiresIn: 3600 })
  for (const [what, path] of WAYS) {
    await start(async (url) => {
      const token = what === 'opaque' ? 'an-opaque-token' : jwt
      const get = async (query = '') => {
        const headers = { authorization: `Bearer ${token}` }
        const response = await fetch(`${url}${made}/${what}${query}`, { headers })
        return `${response.status} ${await response.text()}`
      }
      const expect = (found: readonly string[], title: string) => {
        const wrong = found.filter((each) => each !== '200 ok')
        if (wrong.length > 0) throw new Error(`${made} ${what} ${path} ${title}: ${wrong[0]}`)
      }
      // The first request gives up. Those behind it wait a second at most, and none of them is a failure.
      server.hang(path)
      await get('?leave')
      expect(await Promise.all(Array.from({ length: 8 }, async () => await get())), 'open')
      // Renewals behind requests, one request at a time.
      const found: string[] = []
      const [askedBefore, cutBefore, end] = [server.asked.length, server.cut(), Date.now() + 4000]
      while (Date.now() < end) {
        found.push(await get())
        await pause(20)
      }
      expect(found, 'sequential')
      if (server.asked.length === askedBefore) throw new Error(`${made} ${what}: no renewal`)
      if (what === 'jwt' && server.cut() > cutBefore) throw new Error('a renewal was cut off')
    })
  }
}

/** What cannot be kept there says so where it is made. */
export async function expectComplaints(url: string): Promise<void> {
  const complaints = (await (await fetch(`${url}complaints`)).json()) as Record<string, string>
  if (Object.keys(complaints).length === 0) throw new Error('nothing was made')
  for (const [name, complaint] of Object.entries(complaints)) {
    if (!complaint.startsWith(`TypeError: ${name}: `)) throw new Error(`${name}: ${complaint}`)
  }
}

/** The packages that no guard of above uses work there as well, and a test issuer answers without listening. */
export async function expectOtherPackages(url: string): Promise<void> {
  const answer = await (await fetch(`${url}packages`)).text()
  if (answer !== '["malformed",400,"fresh"]') throw new Error(`packages: ${answer}`)
}
