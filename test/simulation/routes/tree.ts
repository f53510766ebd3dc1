import fc from 'fast-check'

// Random applications, as data that each framework builds what it can of, and what strangers ask them.

/** What a function of a chain does. `answer` and `rewrite` do it for some paths alone, and `leave` says `next('router')`. */
export type Word =
  | 'guard'
  | 'optional'
  | 'requirement'
  | 'next'
  | 'answer'
  | 'rewrite'
  | 'leave'
  | 'skip'
  | 'swallow'
  | 'hide'

interface Use {
  readonly kind: 'use'
  readonly path: string | undefined
  readonly words: readonly Word[]
}

export interface RouteItem {
  readonly kind: 'route'
  readonly method: 'get' | 'post' | 'head' | 'all'
  readonly path: string
  readonly words: readonly Word[]
  /** What the handler does. A chain without one only hands on. */
  readonly handler: 'answer' | 'next' | 'none'
}

interface Mount {
  readonly kind: 'router' | 'application'
  readonly path: string
  readonly tree: Tree
}

interface Param {
  readonly kind: 'param'
  readonly word: 'next' | 'answer' | 'skip'
}

export type Item = Use | RouteItem | Mount | Param

export interface Tree {
  readonly isSensitive: boolean
  readonly isStrict: boolean
  readonly items: readonly Item[]
}

const PATHS = [
  '/',
  '/a',
  '/A',
  '/a/',
  '/b',
  '/a/b',
  '/a/b/c',
  '/:p',
  '/a/:p',
  '/:p/b',
  '/*w',
  '/a/*w',
]

const WORDS: readonly Word[] = [
  ...(['guard', 'guard', 'guard', 'next', 'next', 'next', 'optional', 'optional'] as const),
  ...(['requirement', 'answer', 'rewrite', 'leave', 'skip', 'swallow', 'hide'] as const),
]

/** @param words What the framework knows. */
export function treesOf(
  words: readonly Word[] = WORDS,
  paths: readonly string[] = PATHS,
): fc.Arbitrary<Tree> {
  const word = fc.constantFrom(...words)
  const path = fc.constantFrom(...paths)
  const use: fc.Arbitrary<Use> = fc.record({
    kind: fc.constant('use'),
    path: fc.option(path, { nil: undefined, freq: 2 }),
    words: fc.array(word, { minLength: 1, maxLength: 2 }),
  })
  const route: fc.Arbitrary<RouteItem> = fc.record({
    kind: fc.constant('route'),
    method: fc.constantFrom('get', 'get', 'post', 'head', 'all'),
    path,
    words: fc.oneof(fc.constant([]), fc.array(word, { maxLength: 2 })),
    handler: fc.constantFrom('answer', 'answer', 'answer', 'next', 'none'),
  })
  const param: fc.Arbitrary<Param> = fc.record({
    kind: fc.constant('param'),
    word: fc.constantFrom('next', 'answer', 'skip'),
  })
  const tree = (depth: number): fc.Arbitrary<Tree> => {
    const mount: fc.Arbitrary<Mount> = fc.record({
      kind: fc.constantFrom('router', 'router', 'router', 'application'),
      path,
      tree:
        depth === 0
          ? fc.constant({ isSensitive: false, isStrict: false, items: [] })
          : tree(depth - 1),
    })
    return fc.record({
      isSensitive: fc.boolean(),
      isStrict: fc.boolean(),
      items: fc.array(
        fc.oneof(
          { weight: 3, arbitrary: use },
          { weight: 8, arbitrary: route },
          { weight: depth === 0 ? 0 : 2, arbitrary: mount },
          { weight: 1, arbitrary: param },
        ),
        { minLength: 2, maxLength: 8 },
      ),
    })
  }
  return tree(2)
}

export interface Asked {
  readonly method: 'GET' | 'POST' | 'HEAD' | 'OPTIONS'
  readonly path: string
}

const ASKED = [
  '/a',
  '/a/b',
  '/b',
  '/x',
  '/a/b/c',
  '/',
  '/a',
  '/A',
  '/a/',
  '/b',
  '/a/b',
  '/A/b',
  '/a/B',
  '/a/b/',
  '/a/b/c',
  '/a/x',
  '/x/b',
  '//a',
  '//a/b',
  '/a//b',
  '/a//b/c',
  '/a/b//',
  '/%61',
  '/a%2Fb',
  '/%zz',
  '/a/%zz',
]

export const asked: fc.Arbitrary<readonly Asked[]> = fc.array(
  fc.record({
    method: fc.constantFrom('GET', 'GET', 'GET', 'POST', 'HEAD', 'OPTIONS'),
    path: fc.constantFrom(...ASKED),
  }),
  { minLength: 12, maxLength: 12 },
)
