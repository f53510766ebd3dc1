import {
  checkArgument,
  checkOptions,
  isFunction,
  type OptionCheck,
  own,
  ownMembers,
} from '@portcullis/kit/options'
import { givenRoutes, type Route, type RouteList } from '@portcullis/kit/route-list'

import { createTestIssuer } from '../issuer.ts'
import { pathFor } from './path-for.ts'
import { nameOf } from './route-name.ts'

// Asks each route that needs a token, since a list says only what can be read of an application.

export interface AssertRefusesOptions {
  /** For the parameters of paths, by name, such as `{ id: '42' }`. Where none is stated it is `1`. */
  values?: Readonly<Record<string, string>> | undefined
  /** The whole path to ask for a route whose path is a pattern, by the route: `{ 'GET /files/*': '/files/a.txt' }`. */
  paths?: Readonly<Record<string, string>> | undefined
}

/**
 * Asks each route of a list that is `required`, without a token and with one that another issuer has signed, and checks that both get
 * 401. A route for all methods is asked with `GET` and `POST`. Requests have no body, and go out one after the other.
 *
 * Each other answer fails, by name: 404 and 405 too, since they do not show that a guard has refused anything.
 *
 * @param ask Sends a request to the application, such as `(request) => app.fetch(request)` of Hono. Its URL begins with `http://localhost`.
 * @param list What `describeRoutes(app)` of an adapter returns.
 * @throws TypeError for what is no function or no list of routes, and for a wrong or misspelt option.
 * @throws Error with a line for each fault; also if no route is `required`, and for a value or a path that no route takes.
 */
export async function assertRefuses(
  ask: (request: Request) => Response | Promise<Response>,
  list: RouteList,
  options: AssertRefusesOptions = {},
): Promise<void> {
  checkArgument('assertRefuses', 'the first argument', isFunction(ask))
  const routes = givenRoutes('assertRefuses', list).filter(({ state }) => state === 'required')
  checkOptions('assertRefuses', options, { values: isTexts, paths: isTexts })
  const { asked, faults } = planOf(routes, ownMembers(options))
  const issuer = await createTestIssuer()
  const headers = { 'without a token': {}, 'with a token of another issuer': await issuer.bearer() }
  for (const { method, path } of asked) {
    for (const [how, sent] of Object.entries(headers)) {
      const request = new Request(`http://localhost${path}`, { method, headers: sent })
      const status = await statusOf(ask, request)
      if (status !== 401) faults.push(`${method} ${path} ${how}: ${status}${hintOf(status)}`)
    }
  }
  if (faults.length > 0) throw new Error(`routes do not refuse:\n${faults.join('\n')}`)
}

const isTexts: OptionCheck = (value) =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((each) => typeof each === 'string')
    ? undefined
    : 'must be an object of texts'

type Ask = (request: Request) => Response | Promise<Response>

interface Asked {
  readonly method: string
  readonly path: string
}

/** What to ask, and what is wrong with that before anything is asked. */
function planOf(
  routes: readonly Route[],
  { values = {}, paths = {} }: AssertRefusesOptions,
): { readonly asked: readonly Asked[]; readonly faults: string[] } {
  const names = routes.map(nameOf)
  const found = routes.map((route) => pathFor(route.path, values, own(paths, nameOf(route))))
  const taken = new Set(found.flatMap((path) => path?.taken ?? []))
  return {
    asked: routes.flatMap(({ method }, index) => {
      const path = found[index]?.text
      if (path === undefined) return []
      return (method === 'ALL' ? ['GET', 'POST'] : [method]).map((each) => ({ method: each, path }))
    }),
    faults: [
      ...(routes.length === 0 ? ['no route is required'] : []),
      ...names
        .filter((_name, index) => found[index] === undefined)
        .map((name) => `${name}: its path is a pattern, so state one in paths`),
      ...Object.keys(paths)
        .filter((name) => !names.includes(name))
        .map((name) => `paths: no route ${JSON.stringify(name)} is required`),
      ...Object.keys(values)
        .filter((name) => !taken.has(name))
        .map((name) => `values: no path has the parameter ${JSON.stringify(name)}`),
    ],
  }
}

async function statusOf(ask: Ask, request: Request): Promise<number> {
  // Also one of another `fetch` than that of the platform.
  const { status, body } = Object(await answerOf(ask, request)) as Partial<Response>
  if (typeof status !== 'number') {
    throw new TypeError('assertRefuses: the first argument must return a response')
  }
  await body?.cancel()
  return status
}

async function answerOf(ask: Ask, request: Request): Promise<unknown> {
  const { method, url } = request
  try {
    return await ask(request)
  } catch (cause) {
    throw new Error(`${method} ${new URL(url).pathname}: it could not be asked`, { cause })
  }
}

/** Nothing was there to be refused. */
function hintOf(status: number): string {
  return status === 404 || status === 405 ? ', so nothing shows a refusal: state values' : ''
}
