import type { IncomingMessage, Server } from 'node:http'
import { duplexPair } from 'node:stream'

import * as http from './http-server.ts'
import { costOf, inTurn, mainThread, measure, type Task } from './measure.ts'
import { builtBeside, flags, planOf, printedAlone, report } from './report.ts'
import { createSetting, fastJwtCached } from './subjects.ts'
import { printTable } from './table.ts'

// What a guard adds to a request with one of 50 tokens that were accepted before, in each framework: `pnpm bench guards`. The servers are real, and
// their sockets are in memory: the kernel, whose time differs by 10 us from run to run, takes no part. Each is alone in its process, one after the
// other: what a compiler has learnt of one guard makes the next one slower. The least of the rounds counts: others only add to it.

const PLAN = planOf(
  { rounds: 9, milliseconds: 100, warmUp: 1000 },
  { rounds: 3, milliseconds: 25, warmUp: 200 },
)
const PROCESSES = flags.quick ? 1 : flags.check ? 2 : 3

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

const time = mainThread.isCpuTime ? 'main' : 'cpu'

interface Measured {
  readonly framework: string
  /** Microseconds of the request with the guard that does nothing. */
  readonly request: number
  readonly added: (guard: string) => number
}

/** With nothing, fast-jwt or ours, which is that of the other clone where that is asked for. */
async function serve(framework: string, guard: string): Promise<Server | undefined> {
  if (guard === 'nothing') return await THIN[framework]?.(() => undefined)
  if (guard === 'fastJwt') return await THIN[framework]?.(verifyFast)
  const clone = guard === 'other' ? await builtBeside<typeof http>('http-server.js') : undefined
  return await (clone ?? http).serve(framework, 'Portcullis', setting)
}

/** Microseconds of a request: the least of the rounds in this process. */
async function measureHere(framework: string, guard: string): Promise<number> {
  const server = await serve(framework, guard)
  if (server === undefined) throw new Error(`there is no ${framework}`)
  return costOf(await measure([server], connect, PLAN), server, time)
}

async function measureAll(): Promise<readonly Measured[]> {
  const results: Measured[] = []
  const guards = ['nothing', 'ours', 'fastJwt', ...(flags.beside === undefined ? [] : ['other'])]
  for (const framework of Object.keys(THIN)) {
    const costs = await inTurn(guards, PROCESSES, (guard) => printedAlone(framework, guard))
    const least = (guard: string) => Math.min(...(costs.get(guard) ?? [Number.NaN]))
    const request = least('nothing')
    results.push({ framework, request, added: (guard) => least(guard) - request })
  }
  return results
}

const [, , asked = '', guard] = process.argv
if (asked in THIN && guard !== undefined) {
  console.log(await measureHere(asked, guard))
  process.exit()
}

await report(
  'guards',
  measureAll,
  (results) => {
    printTable(
      `Main thread by ${mainThread.name}.`,
      [
        ['Microseconds', ({ framework }) => framework],
        ['our guard adds', ({ added }) => added('ours')],
        ["fast-jwt's cache adds", ({ added }) => added('fastJwt')],
        ['--beside adds', ({ added }) => added('other')],
        ['the request without', ({ request }) => request, 1],
      ],
      results,
    )
  },
  (results) =>
    Object.fromEntries(
      results.map(({ framework, added }) => [
        `${framework}: what a guard adds / with fast-jwt's cache`,
        added('ours') / added('fastJwt'),
      ]),
    ),
)
setting.keyServer.close()
process.exit()
