import type { IncomingMessage, Server } from 'node:http'
import { duplexPair } from 'node:stream'

import { GUARD_FLOORS } from './floors.ts'
import {
  serve,
  serveExpress,
  serveFastify,
  serveHono,
  serveKoa,
  serveNest,
  tokenOf,
} from './http-server.ts'
import { createSigner } from './inputs.ts'
import { listenForKeys } from './key-server.ts'
import { beside, type Cost, mainThread, measure, median, type Plan, type Task } from './measure.ts'
import { flags, report } from './report.ts'
import { fastJwtCached } from './subjects.ts'
import { type Column, printTable } from './table.ts'

// What a guard adds to a request whose token was accepted before, in each framework. The servers are real, and their sockets are
// in memory: the kernel, whose time differs by 10 us from run to run, takes no part.
//
//   pnpm bench guards            the table
//   pnpm bench guards --check    ratios alone, against floors.ts
//   pnpm bench guards --write    the table of goals in README.md as well

const PLAN: Plan = flags.check
  ? { rounds: 9, milliseconds: 25, warmUp: 200, garbage: 'minor' }
  : flags.quick
    ? { rounds: 1, milliseconds: 5, warmUp: 10 }
    : { rounds: 21, milliseconds: 150, warmUp: 1000 }

const BODY = '{"ok":true}'
const signer = createSigner()
const token = signer.token(0)
const keyServer = await listenForKeys(signer.jwk)
const keys = { jwk: signer.jwk, urls: keyServer.urls }
const fast = fastJwtCached(keys)

/** What a guard has to do, and no more: it reads the header, and asks fast-jwt, which remembers the token. */
function verifyFast(authorization: string | undefined): unknown {
  return fast.verification(tokenOf(authorization))()
}

/** By framework: with what a guard does, which is nothing or to ask fast-jwt. */
const THIN: Readonly<
  Record<string, (ask: (authorization?: string) => unknown) => Promise<Server>>
> = {
  Express: (ask) =>
    serveExpress((request, response, next) => {
      response.locals['auth'] = ask(request.headers.authorization)
      next()
    }),
  Koa: (ask) =>
    serveKoa(async (context, next) => {
      context.state['auth'] = ask(context.headers.authorization)
      await next()
    }),
  Fastify: (ask) =>
    serveFastify((app) => {
      app.decorateRequest('claims', null)
      app.addHook('onRequest', (request, _reply, done) => {
        request.setDecorator('claims', ask(request.headers.authorization))
        done()
      })
    }),
  Hono: (ask) =>
    serveHono(async (context, next) => {
      context.set('auth', ask(context.req.header('authorization')))
      await next()
    }),
  Nest: (ask) =>
    serveNest({
      canActivate(context) {
        const request = context.switchToHttp().getRequest<IncomingMessage>()
        Object.assign(request, { auth: ask(request.headers.authorization) })
        return true
      },
    }),
}

/** Sends that many requests, one after the other, over one connection that is no socket of the kernel. */
function connect(server: Server): (count: number) => Promise<void> {
  server.keepAliveTimeout = 0
  const [client, socket] = duplexPair()
  server.emit('connection', socket)
  const request = `GET / HTTP/1.1\r\nhost: api.test\r\nauthorization: Bearer ${token}\r\n\r\n`
  let left = 0
  let finish: ((error?: Error) => void) | undefined
  client.on('data', (chunk: Buffer) => {
    const text = chunk.toString('latin1')
    if (text.startsWith('HTTP/') && !text.startsWith('HTTP/1.1 200 ')) {
      finish?.(new Error(text))
    }
    if (!text.endsWith(BODY)) return
    left -= 1
    if (left === 0) finish?.()
    else client.write(request)
  })
  return async (count) => {
    left = count
    await new Promise<void>((resolve, reject) => {
      finish = (error) => {
        if (error === undefined) resolve()
        else reject(error)
      }
      client.write(request)
    })
  }
}

interface Measured {
  readonly framework: string
  readonly ours: number
  readonly fastJwt: number
  /** Of the whole request, with the guard that does nothing. */
  readonly request: number
}

const time = mainThread.isCpuTime ? 'main' : 'cpu'

/** Microseconds: what each guard adds to the one that does nothing, the median of the rounds. */
async function measureFramework(framework: string, servers: readonly Server[]): Promise<Measured> {
  const tasks = servers.map((server, index): Task => {
    const send = connect(server)
    return { name: `${framework} ${index}`, prepare: (count) => () => send(count) }
  })
  const costs = await measure(tasks, PLAN)
  const [nothing = [], ours, fastJwt] = tasks.map((task) => costs.get(task))
  const added = (rounds: readonly Cost[] | undefined) =>
    beside(rounds, nothing, (one, other) => one[time] - other[time])
  const request = median(nothing.map((cost) => cost[time]))
  return { framework, ours: added(ours), fastJwt: added(fastJwt), request }
}

const servers = new Map<string, readonly Server[]>()
for (const [framework, start] of Object.entries(THIN)) {
  const ours = await serve(framework, 'Portcullis', keys)
  servers.set(framework, [await start(() => undefined), ours, await start(verifyFast)])
}

async function measureAll(): Promise<readonly Measured[]> {
  const results: Measured[] = []
  for (const [framework, each] of servers) results.push(await measureFramework(framework, each))
  return results
}

await report('bench guards', GUARD_FLOORS, measureAll, {
  figuresOf: (results) =>
    new Map(
      results.map(({ framework, ours, fastJwt }) => [
        `${framework}: what a guard adds / with fast-jwt's cache`,
        ours / fastJwt,
      ]),
    ),
  print(results) {
    const columns: readonly Column<Measured>[] = [
      ['Microseconds', ({ framework }) => framework],
      ['our guard adds', ({ ours }) => ours],
      ["fast-jwt's cache adds", ({ fastJwt }) => fastJwt],
      ['the request without', ({ request }) => request, 1],
    ]
    printTable(`Main thread by ${mainThread.name}.`, columns, results)
  },
})
for (const each of [...servers.values()].flat()) each.close()
keyServer.close()
process.exit()
