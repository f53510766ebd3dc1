import { globSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { createTestIssuer, tokenService } from '@portcullis/testing'
import supertest from 'supertest'
import { describe, expect, onTestFinished, test } from 'vitest'

import { partsOf } from '../../docs/parts.ts'
import { writtenExamples } from '../documents/examples.ts'
import { blocksOf, codeSpans, tableUnder } from '../documents/markdown.ts'
import { type Peer, peers } from './peers.ts'

// The guides beside the packages: `pnpm write` makes their code of the applications here, and their tables are what was seen of
// them.

const root = fileURLToPath(new URL('../..', import.meta.url))
const installed = join(root, 'test/node_modules')
const guides = [...new Set(peers.map(({ guide }) => guide))]

test('every guide has a section for each of its peers, and no other', () => {
  expect(globSync('packages/*/MIGRATING.md', { cwd: root }).toSorted()).toEqual(
    guides.map(pathOf).toSorted(),
  )
  for (const guide of guides) {
    const sections = [...read(pathOf(guide)).matchAll(/^## From (.*)$/gm)].map(([, name]) => name)
    expect(sections).toEqual(peers.filter((peer) => peer.guide === guide).map(({ name }) => name))
  }
})

test.each(guides)('the guide of %s has under 250 lines', (guide) => {
  expect(read(pathOf(guide)).trimEnd().split('\n').length).toBeLessThan(250)
})

test.each(guides)(
  'the guide of %s says how each of its peers behaves, and shows its code',
  (guide) => {
    const [first, ...others] = partsOf(read(pathOf(guide)))
    expect(first).toBe(`changes ${guide}`)
    expect(others.map((name) => name.split(' ', 2).join(' '))).toEqual(
      peers.filter((peer) => peer.guide === guide).map((peer) => `migrated ${folderOfPeer(peer)}`),
    )
  },
)

test.each(peers)('the guide says which $name was looked at', ({ guide, options }) => {
  for (const [name, dependency] of options) {
    if (dependency !== undefined) continue
    const manifest = read(join('test/node_modules', name, 'package.json'))
    const [, version = ''] = /"version": "(\d+\.\d+)/.exec(manifest) ?? []
    expect(read(pathOf(guide))).toContain(`${name} ${version}`)
  }
})

describe.each(peers)('the section of $name', (peer) => {
  const section = sectionOf(peer)
  const { rows } = tableUnder(section, `From ${peer.name}`, 'Old')

  test('names options that are in its packages', () => {
    const text = peer.options.map((names) => textOf(folderOf(...names))).join('\n')
    expect(namesIn(rows.map(([old = '']) => old)).filter((name) => !has(text, name))).toEqual([])
  })

  test('names what we have', () => {
    const sources = ['core', peer.guide].map((name) => textOf(join(root, 'packages', name, 'src')))
    const text = [...sources, ...GIVEN].join('\n')
    expect(namesIn(rows.map(([, now = '']) => now)).filter((name) => !has(text, name))).toEqual([])
  })
})

test('the middleware of the guide of express gives old handlers the claims', async () => {
  const issuer = await createTestIssuer()
  await using service = await tokenService(issuer).listen()
  const [bridge = ''] = blocksOf(read(pathOf('express')))
    .filter(({ language }) => language === 'js')
    .map(({ code }) => code)
  const examples = writtenExamples('.readme-migrating')
  onTestFinished(() => {
    examples.remove()
  })
  const { app } = (await examples.run(
    'bridge',
    `import { createVerifier, remoteKeys } from '@portcullis/core'
import { authenticate, getAuth } from '@portcullis/express'
import express from 'express'

const keys = remoteKeys('${service.keyUrl}')
const verifier = createVerifier({ keys, issuer: null, audience: null })
export const app = express()
${bridge}
app.get('/hello', (request, response) => response.json(request.user?.sub ?? 'stranger'))
`,
  )) as { app: Parameters<typeof supertest>[0] }
  const { text } = await supertest(app)
    .get('/hello')
    .set(await issuer.bearer({ claims: { sub: 'ada' } }))
  expect(text).toBe('"ada"')
})

/** Of Node, of the frameworks, and of others that take over a part. */
const GIVEN = [
  'createPublicKey',
  'pem',
  'NODE_DEBUG',
  'c',
  'ctx',
  'setErrorHandler',
  'openid-client',
]

function folderOfPeer({ name }: Peer): string {
  return name.replace('@', '').replace('/', '-')
}

function sectionOf({ name, guide }: Peer): string {
  const text = read(pathOf(guide))
  const start = text.indexOf(`## From ${name}\n`)
  const end = text.indexOf('\n## ', start)
  return text.slice(start, end === -1 ? undefined : end)
}

/** The identifiers in the code of table cells, but for what is quoted, and paths. */
function namesIn(cells: readonly string[]): readonly string[] {
  const code = cells.flatMap(codeSpans).filter((span) => !span.startsWith('/'))
  const names = code.flatMap(
    (span) => span.replaceAll(/'.*?'/g, '').match(/[A-Za-z_][\w-]*/g) ?? [],
  )
  return [...new Set(names)]
}

function has(text: string, name: string): boolean {
  return new RegExp(String.raw`(?<![\w-])${name}(?![\w-])`).test(text)
}

function folderOf(name: string, dependency?: string): string {
  const folder = realpathSync(join(installed, name))
  if (dependency === undefined) return folder
  return join(folder.slice(0, -name.length), dependency)
}

/** Its code, types and README. */
function textOf(folder: string): string {
  return globSync('**/*.{js,ts,md}', { cwd: folder, exclude: isElsewhere })
    .map((path) => readFileSync(join(folder, path), 'utf8'))
    .join('\n')
}

function isElsewhere(path: string): boolean {
  return /node_modules|(?:^|\/)(?:test|benchmarks?|cjs)(?:\/|$)/.test(path)
}

function pathOf(guide: string): string {
  return `packages/${guide}/MIGRATING.md`
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}
