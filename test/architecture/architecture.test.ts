import { globSync } from 'node:fs'

import { describe, expect, test } from 'vitest'

import { complaintAbout, DECIDING, USES } from './packages.ts'
import {
  circles,
  closesCircle,
  localImports,
  lateImports,
  nameOf,
  read,
  root,
  sources,
  valueImports,
} from './sources.ts'

const others = sources.filter((source) => !/^packages\/(?:core|kit)\//.test(source))

/** What a source imports of others. */
function outsideOf(source: string): readonly string[] {
  const imported = [...valueImports(source), ...lateImports(source)]
  return imported.filter((module) => !sources.includes(fileNamed(source, module)))
}

describe('the packages beside core', () => {
  test.each(others)('%s imports of others what the table allows', (source) => {
    const complaints = outsideOf(source).map((module) => complaintAbout(nameOf(source), module))
    expect(complaints.filter((each) => each !== undefined)).toEqual([])
  })

  test('the table allows nothing that no source needs', () => {
    const used = others.flatMap((source) =>
      outsideOf(source).map((module) => `${nameOf(source)} ${module}`),
    )
    const unused = USES.flatMap(({ package: owner, module, sources: names }) =>
      names
        .map((name) => ({ name, prefix: name === '*' ? `${owner}/` : `${owner}/${name} ` }))
        .filter(
          ({ prefix }) =>
            !used.some((each) => each.startsWith(prefix) && each.endsWith(` ${module}`)),
        )
        .map(({ name }) => `${owner}/${name} ${module}`),
    )
    expect(unused).toEqual([])
  })

  test.each(Object.entries(DECIDING))(
    '%s decides, and reaches nothing that acts',
    (name, allowed) => {
      const reached = new Set<string>()
      const open = [name]
      for (let next = open.pop(); next !== undefined; next = open.pop()) {
        const [owner = '', ...path] = next.split('/')
        const source = `packages/${owner}/src/${path.join('/')}.ts`
        for (const module of sources.includes(source) ? valueImports(source) : []) {
          const target = nameOf(fileNamed(source, module))
          const found = sources.includes(fileNamed(source, module)) ? target : module
          if (!reached.has(found)) open.push(found)
          reached.add(found)
        }
      }
      expect([...reached].toSorted()).toEqual(allowed.toSorted())
    },
  )

  test('a module of others that is planted in any source is refused, unless its row has that source', () => {
    const modules = [...new Set([...USES.map(({ module }) => module), 'node:http2', 'left-pad'])]
    const planted = others
      .map(nameOf)
      .flatMap((name) => modules.map((module) => ({ name, module })))
    const rows = new Set(
      USES.flatMap(({ package: owner, module, sources: names }) =>
        names.map((name) => `${owner}/${name} ${module}`),
      ),
    )
    const allowed = planted.filter(
      ({ name, module }) =>
        rows.has(`${name} ${module}`) || rows.has(`${name.split('/')[0]}/* ${module}`),
    )
    const accepted = planted.filter(
      ({ name, module }) => complaintAbout(name, module) === undefined,
    )
    expect(accepted).toEqual(allowed)
    expect(accepted.length).toBeLessThan(planted.length / 5)
  })

  test('testing reads nothing by what it tests', () => {
    expect(complaintAbout('testing/issuer', '@portcullis/kit/options')).toBeUndefined()
    for (const subpath of ['json', 'time', 'metadata', 'http']) {
      expect(complaintAbout('testing/issuer', `@portcullis/kit/${subpath}`)).toMatch(/must not/)
    }
  })

  test('an import that is planted against the direction of others makes a circle', () => {
    for (const source of others) {
      for (const target of localImports(source)) {
        const from = nameOf(fileNamed(source, target))
        expect(closesCircle(from, nameOf(source)), `${from} of ${source}`).toBe(true)
      }
    }
  })
})

/** Where a source of the same package would be, by what `valueImports` calls it. */
function fileNamed(source: string, module: string): string {
  return `${source.replace(/\/src\/.*/, '/src')}/${module}.ts`
}

/** What a file is for: its first comment, of one to three lines, behind the imports and before everything else. */
function purposeOf(text: string): string | undefined {
  const start = /^(?:#!.*\n)?\s*(?:import\s(?:[^'"]*\sfrom\s+)?'[^']+'(?: with \{.*\})?\s+)*/.exec(
    text,
  )
  const rest = text.slice(start?.[0].length)
  return /^(?:\/\/ (?!oxlint-|@ts-).+\n){1,3}(?=\n)/.exec(rest)?.[0].replaceAll(/^\/\/ |\n$/gm, '')
}

describe('every source file begins with what it is for', () => {
  test('in a comment of one to three lines behind the imports, and an empty line behind it', () => {
    const inBrowser = globSync('packages/cli/browser/*.js', { cwd: root }).toSorted()
    const without = [...sources, ...inBrowser].filter((path) => purposeOf(read(path)) === undefined)
    expect(
      without,
      'say behind the imports what each of these files is for: a comment of one to three lines that begin with //, then an empty line',
    ).toEqual([])
  })

  const IMPORTS = `import { one } from 'one'\n\nimport {\n  type Two,\n  two,\n} from './two.ts'\nimport 'three'\n`

  test.each([
    ['behind imports', `${IMPORTS}\n// Counts.\n\nconst a = 1\n`, 'Counts.'],
    ['behind #!', '#!/usr/bin/env node\n// Counts.\n\nconst a = 1\n', 'Counts.'],
    ['before exports', "// Counts.\n\nexport { a } from './a.ts'\n", 'Counts.'],
    ['before imports', `// Counts.\n\n${IMPORTS}`, 'Counts.'],
    ['of three lines', '// It\n// counts\n// all.\n\nconst a = 1\n', 'It\ncounts\nall.'],
  ])('which is found %s', (_, text, purpose) => {
    expect(purposeOf(text)).toBe(purpose)
  })

  test.each([
    ['nothing', `${IMPORTS}\nconst a = 1\n\n// Counts.\n\n`],
    ['the comment of a declaration', `${IMPORTS}\n// Counts.\nconst a = 1\n`],
    ['a docstring', `${IMPORTS}\n/** Counts. */\nexport const a = 1\n`],
    ['four lines', '// It\n// counts\n// all\n// files.\n\nconst a = 1\n'],
    ['a directive', '// oxlint-disable no-empty\n\nconst a = 1\n'],
  ])('and %s is not taken for it', (_, text) => {
    expect(purposeOf(text)).toBeUndefined()
  })
})

// Where zone.js or a tracer has replaced the global `Promise`, what an asynchronous function returns is no instance of it.
test.each(sources)('%s does not ask what is an instance of Promise', (path) => {
  expect(read(path)).not.toContain('instanceof Promise')
})

test('only byIssuer reads the issuer that an unproven token names', () => {
  const readers = sources.filter((source) => read(source).includes('unprovenIssuer'))
  expect(readers).toEqual([
    'packages/core/src/claims/claims.ts',
    'packages/core/src/issuers/by-issuer.ts',
  ])
})

/**
 * The reads of `auth.claims` in a text: what a schema may have made of them for handlers. Whatever decides reads the claims as they were
 * signed.
 */
function readsOfClaims(text: string): number {
  const code = text.replaceAll(/\/\*.*?\*\/|^\s*\/\/[^\n]*/gms, '')
  const reads =
    /\bauth\??\.claims\b|\{[^{}]*\bclaims\b[^{}]*\}\s*=\s*(?:\w+\.)*auth\b|\bauth\b,? ?\[?\[?'claims'/g
  return [...code.matchAll(reads)].length
}

/** Who reads them, how often, and why that decides nothing, or is what was signed. */
const READERS_OF_CLAIMS: Readonly<Record<string, readonly [reads: number, reason: string]>> = {
  'client/oauth/subject': [1, 'beside the payload of the token, where nobody has noted the signed'],
  'core/claims/schema': [1, 'the input of the schema: what the verifier has just proven'],
  'core/request/http': [1, 'the output, for check() of the route'],
  'core/requirement/requirement': [1, 'the output, for check() of the route'],
  'core/requirement/requirement-list': [1, 'the output, for check() of the route'],
  'core/verifier/judge': [3, 'what the verifier has proven, before its schema'],
  'mcp/auth-info': [1, 'the output, for tools'],
}

describe('nothing decides by what a schema has made of the claims', () => {
  test('so auth.claims is read where the table says, and nowhere else', () => {
    const found = sources
      .map((source) => [nameOf(source), readsOfClaims(read(source))] as const)
      .filter(([, reads]) => reads > 0)
    expect(
      Object.fromEntries(found),
      'read the claims as they were signed: signedClaims(auth) of @portcullis/core/adapter',
    ).toEqual(
      Object.fromEntries(
        Object.entries(READERS_OF_CLAIMS).map(([name, [reads]]) => [name, reads] as const),
      ),
    )
  })

  test.each([
    'if (auth.claims.sub === owner) return',
    'return auth?.claims',
    'const { claims } = auth',
    'const { token, claims: given } = known.auth',
    "const [claims] = membersOf(auth, ['claims'])",
    "member(auth, 'claims')",
    "Reflect.get(auth, 'claims')",
    "auth['claims']",
  ])('%s is a read', (code) => {
    expect(readsOfClaims(code)).toBe(1)
  })

  test.each([
    'const { claims } = asSigned(auth)',
    'signedClaims(auth)',
    '// of auth.claims',
    '/**\n * auth.claims\n */',
    'const { claims } = proven',
  ])('%j is none', (code) => {
    expect(readsOfClaims(code)).toBe(0)
  })
})

test('no imports form a circle, types included', () => {
  expect(circles()).toEqual([])
})

// V8 14.6 corrupts memory when a text is nested too deep. The linter finds `JSON.parse`, and these may turn its rule off.
const PARSERS: Readonly<Record<string, string>> = {
  'cli/openapi/description': 'names in a description may need escapes',
  'cli/program/program': 'it reads the manifest of its own package',
  'kit/json': 'the reader of all others, which knows the depth before',
  'testing/service/harmless-json': 'it knows the depth before',
  'testing/tokens/bad-signatures': 'it reads a token that the issuer has just signed',
}

test('only a reader that knows the depth before parses JSON of others', () => {
  const parsing = sources.filter((source) => read(source).includes('no-restricted-properties'))
  expect(parsing.map(nameOf).toSorted()).toEqual(Object.keys(PARSERS))
  expect(read('.oxlintrc.json')).toContain('"property": "parse"')
  // Of an answer or a request: it limits neither bytes nor depth.
  expect(sources.filter((source) => /\.json\(\)/.test(read(source)))).toEqual([])
})

/** Programs, which are no libraries. */
const PROGRAMS: ReadonlySet<string> = new Set([
  'packages/cli/src/main.ts',
  'packages/redis/src/bin.ts',
])

test('no source of a published package reads the environment or writes to the console', () => {
  // The stub refuses production, which is the one reason to read it.
  const stub = 'packages/testing/src/stub.ts'
  expect(read(stub).match(/process\.env.*/g)).toEqual([
    "process.env['NODE_ENV']?.trim().toLowerCase() === 'production'",
  ])
  const libraries = sources.filter((source) => !PROGRAMS.has(source) && source !== stub)
  const offenders = libraries.filter((source) =>
    /process\.env|console\.|export default|export \*/.test(read(source)),
  )
  expect(offenders).toEqual([])
})

/** Words that say nothing of what is meant, and what says it. Within a name: `findLane` has one. */
const VAGUE: Readonly<Record<string, string>> = {
  lane: 'calls, row',
  odd: 'failing, malformed; isOdd is of numbers',
  slot: 'period, place',
  way: 'group, method; underWay is of work',
}

/** The names of a code that have such a word. Comments and texts are sentences, where it may be the right one. */
function vagueNames(text: string): readonly string[] {
  const code = text.replaceAll(/\/\*.*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/gs, '')
  const names = new Set(code.match(/[A-Za-z_]\w*/g))
  return [...names].filter((name) => {
    const words = name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []
    const plain = words
      .join(' ')
      .toLowerCase()
      .replace(/\bunder way\b|\bis odd\b/, '')
    return plain.split(' ').some((word) => Object.hasOwn(VAGUE, word.replace(/s$/, '')))
  })
}

describe('a name says what it means', () => {
  test('so no source has one with a word of the table', () => {
    const found = sources.flatMap((source) => vagueNames(read(source)))
    expect(found, `write instead: ${JSON.stringify(VAGUE)}`).toEqual([])
  })

  test.each([
    'const lane = 1',
    'type Way = 1',
    'findOdd()',
    'SLOT_LENGTH',
    'x.ways',
    'initialLane',
  ])('%s has one', (code) => {
    expect(vagueNames(code)).toHaveLength(1)
  })

  test.each(['isUnderWay', 'isOdd(n)', '// in a way', "'odd'", 'always', 'plane', 'underWay'])(
    '%s has none',
    (code) => {
      expect(vagueNames(code)).toEqual([])
    },
  )
})
