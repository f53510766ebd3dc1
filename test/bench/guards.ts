import type { IncomingMessage, Server } from 'node:http'
import { duplexPair } from 'node:stream'

import * as http from './http-server.ts'
import { beside, type Cost, mainThread, measure, median, type Task } from './measure.ts'
import { builtBeside, planOf, report } from './report.ts'
import { createSetting, fastJwtCached } from './subjects.ts'
import { printTable } from './table.ts'

// What a guard adds to a request with one of 50 tokens that were accepted before, in each framework: `pnpm bench guards`. The servers are real, and
// their sockets are in memory: the kernel, whose time differs by 10 us from run to run, takes no part.

const PLAN = planOf(
  { rounds: 21, milliseconds: 150, warmUp: 1000 },
  { rounds: 9, milliseconds: 25, warmUp: 200 },
)

const BODY = '{"ok":true}'
const setting = await createSetting()
const tokens = setting.signer.tokens(50)
const fast = fastJwtCached(setting)

/** What a guard has to do, and no more: it reads the header, and asks fast-jwt, which remembers the token. */
function verifyFast(authorization: string | undefined): unknown {
  return fast.verification(http.tokenOf(authorization))()
}

/** By framework: with what a guard does, which is nothing or to ask fast-jwt. */
type Start = (ask: (authorization?: string) => unknown) => Promise<Server>

const THIN: Readonly<Record<string, Start>> = {
  Express: (ask) =>
    http.serveExpress((request, response, next) => {
      response.locals['auth'] = ask(request.headers.authorization)
      next()
    }),
  Koa: (ask) =>
    http.serveKoa(async (context, next) => {
      context.state['auth'] = ask(context.headers.authorization)
      await next()
    }),
  Fastify: (ask) =>
    http.serveFastify((app) => {
      app.decorateRequest('claims', null)
      app.addHook('onRequest', (request, _reply, done) => {
        request.setDecorator('claims', ask(request.headers.authorization))
        done()
      })
    }),
  Hono: (ask) =>
    http.serveHono(async (context, next) => {
      context.set('auth', ask(context.req.header('authorization')))
      await next()
    }),
  Nest: (ask) =>
    http.serveNest({
      canActivate(context) {
        const request = context.switchToHttp().getRequest<IncomingMessage>()
        Object.assign(request, { auth: ask(request.headers.authorization) })
        return true
      },
    }),
}

/** Sends that many requests, one after the other, over one connection that is no socket of the kernel. */
function connect(server: Server): Task {
  server.keepAliveTimeout = 0
  const [client, socket] = duplexPair()
  server.emit('connection', socket)
  const requests = tokens.map(
    (token) => `GET / HTTP/1.1\r\nhost: api.test\r\nauthorization: Bearer ${token}\r\n\r\n`,
  )
  let left = 0
  const send = () => client.write(requests[left % requests.length])
  let finish: ((error?: Error) => void) | undefined
  client.on('data', (chunk: Buffer) => {
    const text = chunk.toString('latin1')
    if (text.startsWith('HTTP/') && !text.startsWith('HTTP/1.1 200 ')) finish?.(new Error(text))
    if (!text.endsWith(BODY)) return
    left -= 1
    if (left === 0) finish?.()
    else send()
  })
  return (count) => async () => {
    left = count
    await new Promise<void>((resolve, reject) => {
      finish = (error) => {
        if (error === undefined) resolve()
        else reject(error)
      }
      send()
    })
  }
}

interface Measured {
  readonly framework: string
  readonly ours: number
  readonly fastJwt: number
  readonly other: number
  /** Of the whole request, with the guard that does nothing. */
  readonly request: number
}

const time = mainThread.isCpuTime ? 'main' : 'cpu'

/** Microseconds: what each guard adds to the one that does nothing, the median of the rounds. */
async function measureFramework(framework: string, start: Start): Promise<Measured> {
  const ours = await http.serve(framework, 'Portcullis', setting)
  const servers = [await start(() => undefined), ours, await start(verifyFast)]
  const clone = await builtBeside<typeof http>('http-server.js')
  if (clone !== undefined) servers.push(await clone.serve(framework, 'Portcullis', setting))
  const costs = await measure(servers, connect, PLAN)
  for (const server of servers) server.close()
  const [nothing = [], own, fastJwt, before] = costs.values()
  const added = (rounds: readonly Cost[] | undefined) =>
    beside(rounds, nothing, (one, other) => one[time] - other[time])
  const request = median(nothing.map((cost) => cost[time]))
  return { framework, ours: added(own), fastJwt: added(fastJwt), other: added(before), request }
}

async function measureAll(): Promise<readonly Measured[]> {
  const results: Measured[] = []
  for (const [framework, start] of Object.entries(THIN))
    results.push(await measureFramework(framework, start))
  return results
}

await report(
  'guards',
  measureAll,
  (results) => {
    printTable(
      `Main thread by ${mainThread.name}.`,
      [
        ['Microseconds', ({ framework }) => framework],
        ['our guard adds', ({ ours }) => ours],
        ["fast-jwt's cache adds", ({ fastJwt }) => fastJwt],
        ['--beside adds', ({ other }) => other],
        ['the request without', ({ request }) => request, 1],
      ],
      results,
    )
  },
  (results) =>
    Object.fromEntries(
      results.map(({ framework, ours, fastJwt }) => [
        `${framework}: what a guard adds / with fast-jwt's cache`,
        ours / fastJwt,
      ]),
    ),
)
setting.keyServer.close()
process.exit()
