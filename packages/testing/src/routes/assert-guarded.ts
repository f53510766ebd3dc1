import { checkOptions, isTextList, type OptionCheck, ownMembers } from '@portcullis/kit/options'
import { givenRoutes, type RouteList } from '@portcullis/kit/route-list'

import { nameOf } from './route-name.ts'

// Fails a test for each route that is open without being named.

export interface AssertGuardedOptions {
  /** The routes that need no token, as `GET /health`: those without a guard, and those with one that is optional. */
  open?: readonly string[] | undefined
  /** The names of the functions that may run before a guard, such as `corsMiddleware`. */
  before?: readonly string[] | undefined
}

/**
 * Checks that no route of a list is open, except those that are named: give it what `describeRoutes(app)` of an adapter returns.
 *
 * Each of these fails, by name: a route that is open and not named, one that is `unseen`, a function before a guard that is not named or
 * has no name, and a name that nothing has.
 *
 * @throws TypeError for what is no list of routes, and for a wrong or misspelt option.
 * @throws Error with a line for each fault.
 */
export function assertGuarded(list: RouteList, options: AssertGuardedOptions = {}): void {
  const routes = givenRoutes('assertGuarded', list)
  checkOptions('assertGuarded', options, { open: isNames, before: isNames })
  const { open = [], before = [] } = ownMembers(options)
  const openRoutes = routes.filter(({ state }) => state === 'none' || state === 'optional')
  const functions = routes.flatMap((each) =>
    each.before.map((one) => ({ ...one, route: nameOf(each) })),
  )
  const faults = [
    ...routes
      .filter(({ state }) => state === 'unseen')
      .map((each) => `${nameOf(each)}: no guard is proven to run`),
    ...openRoutes
      .filter((each) => !open.includes(nameOf(each)))
      .map(
        (each) => `${nameOf(each)}: ${each.state === 'none' ? 'no guard' : 'an optional guard'}`,
      ),
    ...functions
      .filter(({ name }) => name === '' || !before.includes(name))
      .map(
        ({ name, path, route }) =>
          `${route}: ${name === '' ? 'a function without a name' : name} on ${path} runs before the guard`,
      ),
    ...open
      .filter((name) => !openRoutes.some((each) => nameOf(each) === name))
      .map((name) => `open: there is no open route ${JSON.stringify(name)}`),
    ...before
      .filter((name) => !functions.some((each) => each.name === name))
      .map((name) => `before: no function ${JSON.stringify(name)} runs before a guard`),
  ]
  if (faults.length > 0)
    throw new Error(`routes are not guarded:\n${[...new Set(faults)].join('\n')}`)
}

const isNames: OptionCheck = (value) =>
  Array.isArray(value) && value.length === 0 ? undefined : isTextList(value)
