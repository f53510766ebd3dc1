import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { afterAll, describe, expect, test } from 'vitest'

import { withLinks, withoutLinks } from '../documents.ts'
import { manifestPaths } from '../published.ts'
import { repositoryNamed } from './address.ts'
import { type Manifest, obstaclesOf } from './plan.ts'

// What `pnpm release repository` writes, on a copy of the manifests.

const root = fileURLToPath(new URL('../../..', import.meta.url))
const paths = manifestPaths
const copy = mkdtempSync(join(tmpdir(), 'portcullis-repository-'))
for (const path of paths) cpSync(join(root, path), join(copy, path))
const readmes = paths.map((path) => join(dirname(path), 'README.md'))
for (const path of readmes) cpSync(join(root, path), join(copy, path))
const firstPages = ['README.md', 'SECURITY.md']
for (const path of firstPages) cpSync(join(root, path), join(copy, path))
afterAll(() => {
  rmSync(copy, { recursive: true })
})

/** Answers what it says. */
async function writeAddress(...args: readonly string[]): Promise<string> {
  const program = join(root, 'test/publishing/release/repository.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], { cwd: copy })
  return stdout
}

test('a dry run lists each file with each address that it would get, and writes nothing', async () => {
  const before = paths.map((path) => readFileSync(join(copy, path), 'utf8'))
  const said = await writeAddress('https://github.com/third/guards', '--dry-run')
  expect(paths.map((path) => readFileSync(join(copy, path), 'utf8'))).toEqual(before)
  for (const path of [...paths, ...firstPages]) expect(said).toContain(`${path}:\n`)
  expect(said).toContain('  git+https://github.com/third/guards.git\n')
  expect(said).toContain('  https://github.com/third/guards/security/advisories/new\n')
  expect(said).toMatch(/https:\/\/github\.com\/third\/guards\/blob\/HEAD\/packages\/core\/KEYS\.md/)
  expect(said).toMatch(/Nothing was written\.\n$/)
})

describe('each published package', async () => {
  // A second address takes the place of the first.
  await writeAddress('https://github.com/elsewhere/guards')
  await writeAddress('https://github.com/acme/guards')

  test.each(paths)('%s says where its sources are, and nothing else has changed', (path) => {
    const { homepage, bugs, repository, ...rest } = read(copy, path)
    const directory = dirname(path)
    expect(homepage).toBe(`https://github.com/acme/guards/tree/HEAD/${directory}#readme`)
    expect(bugs).toEqual({ url: 'https://github.com/acme/guards/issues' })
    const url = 'git+https://github.com/acme/guards.git'
    expect(repository).toEqual({ type: 'git', url, directory })
    const { homepage: _, bugs: __, repository: ___, ...before } = read(root, path)
    expect(JSON.stringify(rest)).toBe(JSON.stringify(before))
  })

  test.each(readmes)(
    '%s has a link for each document that it names, and nothing else has changed',
    (path) => {
      const text = readFileSync(join(copy, path), 'utf8')
      expect(text.match(/github\.com\/(?!acme\/guards\/)[\w.-]+\/[\w.-]+\/blob/g)).toBeNull()
      // Those of the repository may be linked already.
      const linked = /\[(`[\w/-]+\.md)`\]\(https:[\w/.-]+\/blob\/HEAD\/[\w/-]+\.md(#[\w-]+)?\)/gi
      const [after, before] = [text, readFileSync(join(root, path), 'utf8')]
      expect(after.replaceAll(linked, '$1$2`')).toBe(before.replaceAll(linked, '$1$2`'))
      const names = text.matchAll(/(?<!\[)`((?:docs\/[a-z\d-]+|[A-Z-]+)\.md)(?:#[\w-]+)?`(?! of )/g)
      const folder = join(root, dirname(path))
      expect(
        [...names].map(([, name = '']) => name).filter((name) => existsSync(join(folder, name))),
      ).toEqual([])
    },
  )

  test.each(firstPages)(
    '%s leads to the form for vulnerabilities of the repository, and nothing else has changed',
    (path) => {
      const text = readFileSync(join(copy, path), 'utf8')
      const form =
        '["Report a vulnerability"](https://github.com/acme/guards/security/advisories/new)'
      expect(text.split(form)).toHaveLength(2)
      expect(text.replace(form, '"Report a vulnerability"')).toBe(
        readFileSync(join(root, path), 'utf8').replace(
          /\["Report a vulnerability"\]\([^)]*\)/,
          '"Report a vulnerability"',
        ),
      )
      // The copy that is published with core has no links to files, and keeps this one.
      expect(withoutLinks(text)).toContain(form)
    },
  )

  test.each(firstPages)('%s says how to report without an address', (path) => {
    expect(readFileSync(join(root, path), 'utf8')).toContain('`npm owner ls @portcullis/core`')
  })

  test('what another package has is linked there', () => {
    const text =
      '`GUARDS.md#cors` of `@portcullis/core`, `ERRORS.md` of `@portcullis/core`\n```sh\ncat `KEYS.md`\n```'
    expect(withLinks(text, 'express', 'https://github.com/acme/guards')).toBe(
      text.replace(
        '`GUARDS.md#cors`',
        '[`GUARDS.md`](https://github.com/acme/guards/blob/HEAD/packages/core/GUARDS.md#cors)',
      ),
    )
  })

  test.each(paths)('%s is as the formatter wants it', (path) => {
    const text = readFileSync(join(copy, path), 'utf8')
    expect(text).toBe(`${JSON.stringify(JSON.parse(text), null, 2)}\n`)
  })

  test.each(paths)('%s can be published as far as its address goes', (path) => {
    const packed = {
      ...read(copy, path),
      version: '1.0.0',
      dependencies: {},
      peerDependencies: {},
    } as unknown as Manifest
    expect(obstaclesOf(packed)).toEqual([])
  })
})

test.each([
  ['https://github.com/acme/guards', 'acme/guards'],
  ['https://github.com/acme/guards.git', 'acme/guards'],
  ['https://github.com/acme/guards.js/', 'acme/guards.js'],
])('%s is the repository %s', (url, name) => {
  expect(repositoryNamed(url)).toBe(name)
})

test.each([
  [undefined, 'got nothing'],
  ['acme/guards', 'got acme/guards'],
  ['http://github.com/acme/guards', 'expected a URL such as'],
  ['https://gitlab.com/acme/guards', 'expected a URL such as'],
  ['https://github.com/acme/guards/tree/main', 'expected a URL such as'],
  ['https://user:secret@github.com/acme/guards', 'expected a URL such as'],
  ['https://github.com/OWNER/NAME', 'names of your own repository in place of OWNER/NAME'],
])('%s is no address of a repository', (url, complaint) => {
  expect(() => repositoryNamed(url)).toThrow(complaint)
})

function read(folder: string, path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(folder, path), 'utf8')) as Record<string, unknown>
}
