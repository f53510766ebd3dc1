import { html, raw } from 'hono/html'

import { pathBetween } from './links.ts'
import type { Heading, Rendered } from './markdown.ts'
import type { Page } from './pages.ts'
import { SECTIONS } from './sections.ts'

// The frame of every page: what is above, beside and below of what it says. It works without script: the menu of a narrow window
// is a popover, and the search, which needs a script, is shown by one.

/** Nothing but files of the site itself, and no script or style within a page. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

/** A page as it is shown. */
export interface Shown extends Page, Rendered {
  readonly previous?: Page | undefined
  readonly next?: Page | undefined
}

type Piece = ReturnType<typeof html> | ''

/** @param pages All of them, for the navigation. */
export async function layoutOf(page: Shown, pages: readonly Page[]): Promise<string> {
  const to = linkFrom(page)
  return await document({
    address: page.address,
    title: `${page.title} · Portcullis`,
    about: page.about,
    markdown: to(page.address, '.md'),
    body: html`<div class="columns">
      ${navigation(page, pages)}
      <main id="content" tabindex="-1">
        <p class="kind">${trail(page, pages)}</p>
        <article class="${page.path.startsWith('docs/.reference/') ? 'exports' : 'document'}">
          ${raw(page.html)}
        </article>
        ${around(page)}
      </main>
      ${contents(page.headings)}
    </div>`,
  })
}

/** A whole document, without what is beside the text. */
export async function document({
  address,
  title,
  about,
  body,
  markdown,
  isFront = false,
}: {
  readonly address: string
  readonly title: string
  readonly about: string
  readonly body: Piece | Promise<Piece>
  readonly markdown: string
  readonly isFront?: boolean
}): Promise<string> {
  const to = (file: string) => pathBetween(address, file)
  const top = SECTIONS.map(
    ({ name, folder }) => html`<a href="${to(`${folder}/index.html`)}">${name}</a>`,
  )
  return `<!doctype html>\n${String(
    await html`<html lang="en" data-root="${to('') || '.'}">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${POLICY}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <title>${title}</title>
        <meta name="description" content="${about}" />
        <link rel="icon" href="${to('theme/icon.svg')}" type="image/svg+xml" />
        <link rel="stylesheet" href="${to('theme/site.css')}" />
        <link rel="alternate" type="text/markdown" href="${markdown}" />
        <script src="${to('theme/scheme.js')}"></script>
        <script type="module" src="${to('theme/site.js')}"></script>
      </head>
      <body class="${isFront ? 'front' : 'inner'}">
        <a class="skip" href="#content">To the text</a>
        <header class="top">
          <a class="brand" href="${to('index.html')}"
            ><img src="${to('theme/icon.svg')}" alt="" width="28" height="28" />Portcullis</a
          >
          <nav class="quick" aria-label="Sections">
            ${top.slice(0, 4)}
            <a href="${to('errors/index.html')}">Errors</a>
            <a href="${to('reference/index.html')}">Reference</a>
          </nav>
          <div class="tools">
            <button type="button" id="open-search" hidden>Search <kbd>/</kbd></button>
            <button type="button" id="scheme" hidden aria-pressed="false" aria-label="Dark colours">
              ◐
            </button>
            ${isFront ? '' : html`<button type="button" class="menu" popovertarget="navigation">Menu</button>`}
          </div>
        </header>
        ${body}
        <footer class="bottom">
          <a href="${to('all.html')}">All pages</a>
          <a href="${markdown}">This page as Markdown</a>
          <a href="${to('llms.txt')}">llms.txt</a>
          <a href="${to('files/LICENSE')}">MIT licence</a>
        </footer>
      </body>
    </html>`,
  )}`
}

function linkFrom({ address }: Page) {
  return (target: string, ending: '.html' | '.md' = '.html') =>
    pathBetween(address, `${target}${ending}`)
}

/** Where the page belongs, and what kind it is. */
function trail(page: Page, pages: readonly Page[]): Piece {
  const to = linkFrom(page)
  const parent = pages.find(({ address }) => address === page.parent)
  return html`<a href="${to(`${page.section.folder}/index`)}">${page.section.name}</a
    >${parent === undefined || parent.address === `${page.section.folder}/index` ? '' : html`<span aria-hidden="true"> / </span><a href="${to(parent.address)}">${parent.label}</a>`}${page.kind === undefined ? '' : html`<span class="what">${page.kind}</span>`}`
}

/** All sections; the pages of the one that is open, and of the page that is open what is below it. */
function navigation(page: Page, pages: readonly Page[]): Piece {
  return html`<nav id="navigation" popover aria-label="All sections">
    ${SECTIONS.map((section) => {
      const isOpen = section.name === page.section.name
      const rows = pages.filter(
        (each) => each.section.name === section.name && each.parent === undefined,
      )
      return html`<details ${isOpen ? raw('open') : ''}>
        <summary>${section.name}</summary>
        <ul>
          ${rows.map((row) => entry(row, page, pages))}
        </ul>
      </details>`
    })}
  </nav>`
}

/** A page in the navigation, with those below it if the page that is shown is it or one of them. */
function entry(row: Page, page: Page, pages: readonly Page[]): Piece {
  const isOpen = ancestry(page, pages).includes(row.address)
  const below = isOpen
    ? pages.filter(
        ({ parent, address }) => parent === row.address && !address.startsWith('errors/messages/'),
      )
    : []
  return html`<li>
    ${link(row, page)}
    ${
      below.length === 0
        ? ''
        : html`<ul>
            ${below.map((each) => entry(each, page, pages))}
          </ul>`
    }
  </li>`
}

/** The page itself, and those that it is below. */
function ancestry({ address, parent }: Page, pages: readonly Page[]): readonly string[] {
  const above = pages.find((each) => each.address === parent && each.address !== address)
  return [address, ...(above === undefined ? [] : ancestry(above, pages))]
}

function link(target: Page, page: Page): Piece {
  // A reason of an error stands below its code.
  const label =
    target.parent === undefined ? target.label : target.label.replace(/^\w+: (?=\w+$)/, '')
  const current = target.address === page.address ? raw('aria-current="page"') : ''
  return html`<a href="${linkFrom(page)(target.address)}" ${current}>${label}</a>`
}

/** What is read before this page, and after it. */
function around(page: Shown): Piece {
  const to = linkFrom(page)
  const { previous, next } = page
  if (previous === undefined && next === undefined) return ''
  return html`<nav class="around" aria-label="Previous and next page">
    ${previous === undefined ? html`<span></span>` : html`<a rel="prev" href="${to(previous.address)}"><small>Previous</small>${previous.label}</a>`}
    ${next === undefined ? '' : html`<a rel="next" href="${to(next.address)}"><small>Next</small>${next.label}</a>`}
  </nav>`
}

function contents(headings: readonly Heading[]): Piece {
  const shown = headings.filter(({ level }) => level === 2 || level === 3)
  if (shown.length < 2) return html`<div class="contents"></div>`
  return html`<nav class="contents" aria-label="On this page">
    <p>On this page</p>
    <ul>
      ${shown.map(({ level, id, text }) => html`<li class="level-${String(level)}"><a href="#${id}">${text}</a></li>`)}
    </ul>
  </nav>`
}
