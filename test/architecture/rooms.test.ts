import { globSync } from 'node:fs'
import { basename, dirname } from 'node:path'

import { describe, expect, test } from 'vitest'

import { complaintAbout } from './packages.ts'
import {
  complaintAboutRoom,
  DECISIONS,
  doorOf,
  ENTRIES,
  type LocalImport,
  OUTSIDE,
  roomOf,
  ROOMS,
} from './rooms.ts'
import { lateImports, localImports, nameOf, read, root, sources, valueImports } from './sources.ts'

// The folders of the packages that have rooms, beside the one table of them.

const PACKAGES = Object.keys(ENTRIES)

/** The sources of a package by their name under `src`. */
const filesOf = (owner: string) =>
  sources.map(nameOf).flatMap((name) => {
    const [first, ...path] = name.split('/')
    return first === owner ? [path.join('/')] : []
  })
const sourceOf = (owner: string, file: string) => `packages/${owner}/src/${file}.ts`
const roomsOf = (owner: string) => ROOMS.filter((room) => room.package === owner)
const isInRoom = (file: string) => file.includes('/')

function importsOf(owner: string): readonly LocalImport[] {
  return filesOf(owner).flatMap((from) => {
    const source = sourceOf(owner, from)
    const values = new Set([...valueImports(source), ...lateImports(source)])
    return localImports(source).map((to) => ({ from, to, isOfTypes: !values.has(to) }))
  })
}

const distinct = (names: readonly string[]) => [...new Set(names)].toSorted()

/** Those that lead from one room into another. */
const crossing = (owner: string) =>
  importsOf(owner).filter(({ from, to }) => isInRoom(from) && roomOf(from) !== roomOf(to))

test('the table has the rooms of each package that has some', () => {
  expect([...new Set(ROOMS.map((room) => room.package))]).toEqual(PACKAGES)
})

describe.each(PACKAGES)('the rooms of %s', (owner) => {
  const order = roomsOf(owner).map(({ name }) => name)
  const files = filesOf(owner)
  const folders = new Set(files.filter(isInRoom).map(roomOf))

  test('are those of the table, and at most 18', () => {
    const inTable = order.filter((name) => !name.startsWith('./'))
    expect([...folders].toSorted()).toEqual(inTable.toSorted())
    expect(order.length).toBeLessThanOrEqual(18)
  })

  test('lie on one floor each', () => {
    expect(files.filter((file) => file.split('/').length > 2)).toEqual([])
  })

  test('have their entries beside them and nothing else', () => {
    expect(files.filter((file) => !isInRoom(file)).toSorted()).toEqual(ENTRIES[owner])
  })

  test('have their tests in folders of their names, each where its source is', () => {
    const tests = globSync(`packages/${owner}/test/**/*.test.ts`, { cwd: root }).map((path) =>
      path.replace(`packages/${owner}/test/`, ''),
    )
    const strange = tests.map((path) => dirname(path)).filter((folder) => !folders.has(folder))
    // What concerns the whole package is beside them.
    expect(strange.filter((folder) => folder !== '.')).toEqual([])
    const lost = tests.filter((path) => {
      const name = basename(path, '.test.ts')
      const own = files.filter((file) => doorOf(file) === name)
      return dirname(path) === '.' && own.length > 0
    })
    expect(lost).toEqual([])
  })

  test('use each other as the table says, and no import runs up', () => {
    const complaints = crossing(owner).map((each) => complaintAboutRoom(owner, each))
    expect(complaints.filter((each) => each !== undefined)).toEqual([])
  })

  test('have nothing in the table that no source needs', () => {
    const used = crossing(owner)
    const found = roomsOf(owner).map((room) => {
      const own = used.filter(({ from }) => roomOf(from) === room.name)
      const calls = distinct(own.filter((each) => !each.isOfTypes).map(({ to }) => roomOf(to)))
      const types = distinct(own.map(({ to }) => roomOf(to))).filter(
        (each) => !calls.includes(each),
      )
      const doors = distinct(
        used
          .filter(({ to }) => isInRoom(to) && roomOf(to) === room.name)
          .map(({ to }) => doorOf(to)),
      )
      const inside = files.filter((file) => roomOf(file) === room.name)
      const isOpen = room.doors.includes('*') && doors.length > (inside.length * 2) / 3
      return { name: room.name, calls, types, doors: isOpen ? ['*'] : doors }
    })
    const inTable = roomsOf(owner).map(({ name, calls, types, doors }) => ({
      name,
      calls: calls.toSorted(),
      types: types.toSorted(),
      doors: doors.toSorted(),
    }))
    expect(found).toEqual(inTable)
  })

  test('refuse an import that is planted into any source, unless its row has the room, and the file is a door', () => {
    const rooms = roomsOf(owner)
    const isExpected = ({ from, to, isOfTypes }: LocalImport) => {
      const row = rooms.find(({ name }) => name === roomOf(from))
      const doors = rooms.find(({ name }) => name === roomOf(to))?.doors ?? []
      const isOpen = !isInRoom(to) || doors.includes('*') || doors.includes(doorOf(to))
      const named = isOfTypes ? [...(row?.calls ?? []), ...(row?.types ?? [])] : row?.calls
      return isOpen && named?.includes(roomOf(to)) === true
    }
    const planted = files
      .filter(isInRoom)
      .flatMap((from) =>
        files
          .filter((to) => roomOf(to) !== roomOf(from))
          .flatMap((to) => [true, false].map((isOfTypes) => ({ from, to, isOfTypes }))),
      )
    const accepted = planted.filter((each) => complaintAboutRoom(owner, each) === undefined)
    expect(accepted).toEqual(planted.filter(isExpected))
    expect(accepted.length).toBeLessThan(planted.length / 2)
  })

  test('refuse every import that is planted against the direction of one that is there', () => {
    const planted = crossing(owner)
      .filter(({ to }) => isInRoom(to))
      .flatMap(({ from, to }) =>
        [true, false].map((isOfTypes) => ({ from: to, to: from, isOfTypes })),
      )
    expect(planted.length).toBeGreaterThan(9)
    const refused = planted.filter((each) =>
      complaintAboutRoom(owner, each)?.endsWith('that is a room above it'),
    )
    expect(refused).toEqual(planted)
  })
})

describe('an import is refused', () => {
  test.each([
    ['core', 'claims/claims', 'verifier/verifier', /above/],
    ['core', 'keys/jwk', 'index', /no room/],
    ['core', 'issuers/by-issuer', 'verifier', /no room/],
    ['core', 'token/token', 'keys/rotation', /no such room/],
    ['core', 'verifier/verifier', 'keys/rotation', /no door/],
    ['client', 'login/client', 'oauth/metadata', /above/],
    ['client', 'present/present-token', 'login/client', /above/],
    ['client', 'dpop/dpop', 'request/retry', /above/],
    ['client', 'oauth/metadata', 'present/authorized-fetch', /no such room/],
    ['client', 'login/client', 'present/present-token', /no door/],
    ['redis', 'store/connection', 'revocations/following', /above/],
    ['redis', 'revocations/reader', 'replays/store', /above/],
    ['redis', 'replays/store', 'revocations/options', /no such room/],
    ['redis', 'program/program', 'revocations/replica', /no door/],
    ['cli', 'surroundings/terminal', 'input/seconds', /above/],
    ['cli', 'serve/service', 'pages/pages', /above/],
    ['cli', 'try/play', 'serve/service', /no such room/],
    ['cli', 'serve/service', 'package-files', /no such room/],
    ['cli', 'commands/keys', 'keys/key-lint', /no door/],
  ])('in %s of %s that is planted: %s', (owner, from, to, complaint) => {
    expect(filesOf(owner)).toContain(from)
    expect(filesOf(owner)).toContain(to)
    expect(complaintAboutRoom(owner, { from, to, isOfTypes: false })).toMatch(complaint)
  })

  test('of a value where the row has types alone', () => {
    const planted = { from: 'present/present-token', to: 'request/token-request' }
    expect(complaintAboutRoom('client', { ...planted, isOfTypes: true })).toBeUndefined()
    expect(complaintAboutRoom('client', { ...planted, isOfTypes: false })).toMatch(/no such room/)
  })
})

const fileOf = (source: string) => nameOf(source).replace('core/', '')
/** What every package may use, and what knows none of them. */
const isOfKit = (module: string) => module.startsWith('@portcullis/kit/')

describe('the sources of core', () => {
  const inCore = sources.filter((source) => source.startsWith('packages/core/'))

  test('make nothing in an entry, of which there are at most 8', () => {
    const loose = inCore.filter((source) => !isInRoom(fileOf(source)))
    expect(loose.length).toBeLessThanOrEqual(8)
    const statements = loose.flatMap((source) => read(source).match(/^[a-z].*/gm) ?? [])
    expect(statements.filter((each) => !/^export (?:type )?\{/.test(each))).toEqual([])
  })

  test('touch the platform and dependencies where it is said', () => {
    const touching = Object.keys(OUTSIDE).map((module) => [
      module,
      inCore
        .filter((source) => valueImports(source).includes(module))
        .map(fileOf)
        .toSorted(),
    ])
    expect(Object.fromEntries(touching)).toEqual(OUTSIDE)
    const isLocal = (module: string) => inCore.some((source) => fileOf(source) === module)
    const modules = inCore
      .flatMap(valueImports)
      .filter((module) => !isLocal(module) && !isOfKit(module))
    expect([...new Set(modules)].toSorted()).toEqual(Object.keys(OUTSIDE))
  })

  test('use nothing of the kit that has a third party', () => {
    const complaints = inCore.flatMap((source) =>
      valueImports(source)
        .filter(isOfKit)
        .map((module) => complaintAbout(nameOf(source), module)),
    )
    expect(complaints.filter((each) => each !== undefined)).toEqual([])
    const planted = '@portcullis/kit/client-authentication'
    expect(complaintAbout('core/keys/remote-keys', planted)).toBe(
      `core/keys/remote-keys must not import ${planted}`,
    )
  })

  // A simulation and a model play with the same decisions.
  test('decide about keys in pure functions, which reach nothing that acts', () => {
    const reached = (files: readonly string[]): readonly string[] => {
      const next = files
        .filter((file) => !isOfKit(file))
        .flatMap((file) => valueImports(`packages/core/src/${file}.ts`))
      const all = [...new Set([...files, ...next])].toSorted()
      return all.length === files.length ? all : reached(all)
    }
    expect(reached(['keys/rotation'])).toEqual(DECISIONS)
  })
})
