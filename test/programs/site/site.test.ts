import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import type { Page as BrowserPage } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { buildSite } from '../../../docs/build.ts'
import { entriesOf } from '../../../docs/entries.ts'
import { brokenLinks, faultsOfPages } from '../../../docs/page-rules.ts'
import { type Page, pagesOf } from '../../../docs/pages.ts'
import { referenceOf } from '../../../docs/reference.ts'
import { REFERENCE, SECTIONS } from '../../../docs/sections.ts'
import { refusals } from '../../../packages/core/src/refusal/refusals.ts'
import type { Served } from '../../bound-tokens/serve.ts'
import {
  describeWithBrowser,
  expectNothingWrong,
  findings,
  useBrowser,
} from '../console/browser.ts'
import { servingFiles } from './serving.ts'

// The site as `pnpm run docs` builds it, for which a wrong comment in a source is a fault, and as a browser shows it. One page more looks
// as those of the reference, with a name that is as long as can be.

const site = mkdtempSync(join(tmpdir(), 'portcullis-site-'))
const read = (path: string) => readFileSync(join(site, path), 'utf8')
let served: Served
let pages: readonly Page[]

beforeAll(async () => {
  const documents = pagesOf()
  const reference = await referenceOf(documents, entriesOf())
  pages = await buildSite(site, documents, [...reference, exported()])
  served = await servingFiles(site)
}, 120_000)

afterAll(async () => {
  await served[Symbol.asyncDispose]()
  rmSync(site, { recursive: true })
})

test('no link leads nowhere, and no page is too large or against its policy', () => {
  expect(globSync('**/*.html', { cwd: site }).length).toBeGreaterThan(200)
  expect(brokenLinks(site)).toEqual([])
  expect(faultsOfPages(site)).toEqual([])
})

test('each page has its Markdown beside it, and the lists for programs have every document', () => {
  const list = read('llms.txt')
  const whole = read('llms-full.txt')
  for (const { address } of pages) expect(existsSync(join(site, `${address}.md`))).toBe(true)
  for (const { address, path } of pagesOf()) {
    expect(list, `${path} in llms.txt`).toContain(`](${address}.md)`)
    expect(whole, `${path} in llms-full.txt`).toContain(`<!-- ${address}.md -->`)
  }
})

test('each section has a page that leads to all of its documents', () => {
  for (const { folder, rows } of SECTIONS) {
    const text = read(`${folder}/index.md`)
    expect(text.match(/^- \[/gm)?.length, `the page of ${folder}`).toBe(rows.length)
  }
})

test('the navigation calls documents by their whole names, and reasons without their code', () => {
  const shown = read('errors/invalid_token/expired.html')
  expect(shown).toMatch(/nest-recipes\.html" *>Nest: recipes</)
  expect(shown).toMatch(/fastify-plugins\.html" *>Fastify: plugins</)
  expect(shown).toMatch(/audience\.html" *>audience</)
})

test('the search finds each message as a program prints it, and each text that clients read', async () => {
  const find = await finder()
  const lost = (asked: string, address: string, among: number) =>
    find(asked)
      .slice(0, among)
      .some((found) => found.address === `${address}.html`)
      ? []
      : [`${asked}: not ${address}`]
  // The message that is only `…` is one of those in full.
  const messages = pages.filter(
    ({ address, title }) => /^errors\/messages\/(?!index$)/.test(address) && /[a-z]/i.test(title),
  )
  const texts = Object.entries(refusals).flatMap(([code, { description, reasons }]) =>
    Object.entries({ index: description, ...reasons }).map(
      ([name, text]) => [text ?? description, text === null ? 'index' : name, code] as const,
    ),
  )
  expect([
    ...messages.flatMap(({ title, address }) => lost(printed(title), address, 2)),
    ...texts.flatMap(([text, name, code]) => lost(text, `errors/${code}/${name}`, 2)),
    ...PRINTED.flatMap(([text, name]) => lost(text, `errors/messages/${name}`, 1)),
  ]).toEqual([])
})

test('the search finds what people call it, among the first three', async () => {
  const find = await finder()
  const lost = LOOKED_UP.flatMap(([asked, address]) => {
    const first = find(asked).slice(0, 3)
    return first.some((found) => found.address.startsWith(address))
      ? []
      : [`${asked}: ${first.map((found) => found.address).join(', ')}`]
  })
  expect(lost).toEqual([])
})

test('pages made of the row of a table have no backslash before a |', () => {
  const made = pages.filter(({ address }) => /^errors\/messages\/(?!index$)/.test(address))
  expect(made.filter(({ address }) => read(`${address}.md`).includes('\\|'))).toEqual([])
})

async function finder() {
  const { createFinder } = (await import(pathToFileURL(join(site, 'theme/finder.js')).href)) as {
    createFinder: (index: unknown) => (asked: string) => readonly { readonly address: string }[]
  }
  return createFinder(JSON.parse(read('search.json')))
}

/** A message with something in the place of `…`. */
function printed(message: string): string {
  return message.replace(/^…/, 'createVerifier').replaceAll('…', 'something')
}

/** What options that are wrong make these functions say, in full, or cut off where somebody stopped to copy. */
const PRINTED = [
  [
    'TypeError: createVerifier: unknown option "isuer", known are keys, issuer, audience, clockTolerance, requireExpiry, maxTokenAge',
    'unknown-option',
  ],
  ['createVerifier: clockTolerance must be a number of seconds from 0 to 600', 'wrong-value'],
  ['createVerifier: algorithms: "HS256" is not supported, choose from RS256, ES256', 'algorithms'],
  [
    'remoteKeys: the key URL is not an absolute URL: is an environment variable unset?',
    'the-key-url',
  ],
  ['createVerifier: audience must be stated', 'must-be-stated-null-to-accept-any'],
  ['TypeError: createVerifier: issuer must be stated, null', 'must-be-stated-null-to-accept-any'],
  ['receiveLogout: revokes must be stated', 'must-be-stated'],
] as const

/** The words that somebody has in mind who does not know ours, and what the address of the answer begins with. */
const LOOKED_UP = [
  ['how do I log out a user', 'guides/revoking'],
  ['logout', 'guides/revoking'],
  ['sign out everywhere', 'guides/revoking'],
  ['refresh token', 'guides/revoking'],
  ['several processes', 'operating/redis'],
  ['redis is down', 'operating/'],
  ['incident', 'operating/operating'],
  ['leaked key', 'operating/operating'],
  ['roll back', 'operating/operating'],
  ['rollback', 'guides/keys.html#in-a-rotation'],
  ['jwks', 'guides/keys'],
  ['503', 'errors/'],
  ['without a provider', 'guides/guards.html#without-a-provider'],
  ['getting started', 'start/index'],
  ['install express', 'frameworks/express'],
  ['azure ad', 'providers/entra'],
  ['app roles', 'providers/entra'],
  ['mcp', 'frameworks/mcp.html'],
  ['www-authenticate resource_metadata', 'guides/guards.html'],
  ['requirements', 'start/core.html#requirements'],
  ['cors', 'guides/guards.html#cors'],
  ['unknown_key', 'errors/invalid_token/unknown_key'],
  ['example', 'reference/core/functions/example'],
] as const

const REPRESENTATIVE = [
  'index.html',
  'frameworks/express.html',
  'guides/keys.html',
  'errors/index.html',
  'errors/messages/index.html',
  'errors/keys_unavailable/index.html',
  'errors/invalid_token/audience.html',
  'reference/core/functions/example.html',
  'security/measured.html',
  'start/examples/callers/websocket.html',
  'all.html',
]

describeWithBrowser('the site', () => {
  const visit = useBrowser()

  test.each([820, 1440])('nothing is wider than %s pixels', async (width) => {
    await using opened = await visit(`${served.url}/index.html`, {
      viewport: { width, height: 900 },
    })
    await eachFits(opened.page, width)
    expectNothingWrong(opened)
  })

  test('axe finds nothing, nothing is wider than 390 pixels, and nothing of others is asked for', async () => {
    await using opened = await visit(`${served.url}/index.html`, {
      colorScheme: 'dark',
      viewport: { width: 390, height: 900 },
      reducedMotion: 'reduce',
    })
    await eachFits(opened.page, 390, async (path) => {
      expect(await findings(opened.page), `axe, ${path}`).toEqual([])
    })
    expectNothingWrong(opened)
  })

  test('axe finds nothing in light colours, in which a page differs by its kinds of text alone', async () => {
    await using opened = await visit(`${served.url}/guides/keys.html`, {
      colorScheme: 'light',
      viewport: { width: 1440, height: 900 },
      reducedMotion: 'reduce',
    })
    for (const path of [
      'guides/keys.html',
      'errors/index.html',
      'reference/core/functions/example.html',
    ]) {
      await opened.page.goto(`${served.url}/${path}`)
      expect(await findings(opened.page), `axe, ${path}`).toEqual([])
    }
    expectNothingWrong(opened)
  })

  test('a wide table scrolls inside itself, and can be reached by the keyboard', async () => {
    await using opened = await visit(`${served.url}/errors/index.html`, {
      viewport: { width: 390, height: 900 },
    })
    const table = opened.page.locator('.table').nth(1)
    expect(await table.getAttribute('tabindex')).toBe('0')
    const isWider = `(() => {
      const box = document.querySelectorAll('.table')[1]
      return box.scrollWidth > box.clientWidth
    })()`
    expect(await opened.page.evaluate(isWider)).toBe(true)
  })

  test.each([
    ['invalid_token: aud is "shop"; expected "api"', 'invalid_token: audience'],
    ['The access token has expired', 'invalid_token: expired'],
    ['Access tokens cannot be verified at the moment', 'keys_unavailable'],
    ['createVerifier: keys must be stated', 'createVerifier: keys must be stated'],
    ['websocket', 'websocket'],
  ])('the search finds %s', async (asked, title) => {
    await using opened = await visit(`${served.url}/guides/keys.html`)
    await search(opened.page, asked)
    const titles = opened.page.locator('#results strong')
    await titles.first().waitFor()
    expect((await titles.allTextContents()).slice(0, 4).join('\n')).toContain(title)
    await opened.page.keyboard.press('ArrowDown')
    await opened.page.keyboard.press('Enter')
    await opened.page.waitForURL((url) => !url.pathname.endsWith('/guides/keys.html'))
    expectNothingWrong(opened)
  })

  test('axe finds nothing in the search, and what is not found is said', async () => {
    await using opened = await visit(`${served.url}/index.html`)
    await search(opened.page, 'revoke')
    await opened.page.locator('#results strong').first().waitFor()
    expect(await findings(opened.page)).toEqual([])
    await opened.page.getByLabel('Search for').fill('zzzzzzzzzz')
    await opened.page.getByText('Nothing found.').waitFor()
    expectNothingWrong(opened)
  })

  test('what is asked is text, not markup', async () => {
    await using opened = await visit(`${served.url}/index.html`)
    await search(opened.page, '<img src=x onerror=alert(1)> revoke')
    await opened.page.locator('#results strong').first().waitFor()
    expect(await opened.page.locator('#results img').count()).toBe(0)
    expectNothingWrong(opened)
  })

  test('the colours that were chosen stay on the next page', async () => {
    await using opened = await visit(`${served.url}/index.html`, { colorScheme: 'light' })
    const { page } = opened
    const background = async () =>
      await page.evaluate('getComputedStyle(document.body).backgroundColor')
    const light = await background()
    await page.getByRole('button', { name: 'Dark colours' }).click()
    const dark = await background()
    expect(dark).not.toBe(light)
    await page.goto(`${served.url}/guides/keys.html`)
    expect(await background()).toBe(dark)
    expectNothingWrong(opened)
  })

  test('without script there is everything but the search', async () => {
    await using opened = await visit(`${served.url}/index.html`, {
      javaScriptEnabled: false,
      viewport: { width: 390, height: 900 },
    })
    const { page } = opened
    await page.getByRole('link', { name: 'Express', exact: true }).first().click()
    await page.waitForURL('**/frameworks/**')
    expect(await page.getByRole('button', { name: 'Search' }).isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.locator('#navigation summary', { hasText: 'Guides' }).click()
    await page.getByRole('link', { name: 'Keys and rotations' }).click()
    await page.waitForURL('**/guides/keys.html')
    await page.locator('[rel=next]').click()
    await page.waitForURL('**/guides/many-issuers.html')
    await page.locator('[rel=prev]').click()
    await page.waitForURL('**/guides/keys.html')
    await page.getByRole('link', { name: 'All pages' }).click()
    await page.getByRole('link', { name: 'invalid_token: expired' }).click()
    await page.waitForURL('**/errors/invalid_token/expired.html')
    expectNothingWrong(opened)
  })

  test('the address of an error has no ending', async () => {
    await using opened = await visit(`${served.url}/errors/keys_unavailable`)
    await opened.page.getByRole('heading', { level: 1, name: 'keys_unavailable' }).waitFor()
    expectNothingWrong(opened)
  })
})

/** Goes through pages of every kind, and looks at each. */
async function eachFits(
  page: BrowserPage,
  width: number,
  look: (path: string) => Promise<void> = async () => {},
): Promise<void> {
  for (const path of REPRESENTATIVE) {
    await page.goto(`${served.url}/${path}`)
    const wide = await page.evaluate('document.documentElement.scrollWidth')
    expect(wide, `the width of ${path}`).toBe(width)
    await look(path)
  }
}

async function search(page: BrowserPage, words: string): Promise<void> {
  await page.keyboard.press('/')
  await page.getByLabel('Search for').fill(words)
}

/** A page as typedoc writes it. */
function exported(): Page {
  const section = SECTIONS.find(({ folder }) => folder === REFERENCE)
  if (section === undefined) throw new Error('there is no section for the reference')
  return {
    path: 'docs/.reference/pages/@portcullis/core/functions/example.md',
    address: 'reference/core/functions/example',
    section,
    label: 'example()',
    title: 'example()',
    about: 'Shows how an export looks.',
    kind: 'Function of @portcullis/core',
    text: [
      '# example()',
      '> **example**\\<`Output`\\>(`options`): `Readonly`\\<`Record`\\<`string`, `Output`\\>\\>',
      'Shows how an export looks.',
      '## Parameters',
      `| Parameter | Type | Description |\n| ------ | ------ | ------ |\n| <a id="options"></a> \`options\` | \`Readonly\`\\<\\{ \`${'long'.repeat(30)}\`: \`string\`; \\}\\> | What it is.<br>**Default** \`5\` |`,
      '## Throws',
      'TypeError for a wrong option.',
    ].join('\n\n'),
  }
}
