import { html } from 'hono/html'

import type { Html } from './text.ts'

// The frame of the console: the whole page, and the document with only the parts that have changed.

/** What the navigation leads to: on a narrow page one section is shown at a time, the first one unless another is chosen. */
const SECTIONS: readonly (readonly [id: string, name: string])[] = [
  ['explain', 'Token'],
  ['keys', 'Keys'],
  ['faults', 'Faults'],
  ['session', 'Session'],
]

/** @param authUrl As the browser has it. */
export function layout(authUrl: string, columns: readonly (readonly Html[])[]): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>Portcullis console</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <link rel="icon" href="/console/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/console/page.css" />
        <script type="module" src="/console/page.js"></script>
      </head>
      <body>
        <a class="skip" href="#main">To the panels</a>
        <header class="masthead">
          <img src="/console/icon.svg" alt="" width="36" height="36" />
          <div>
            <h1>Portcullis console</h1>
            <p class="quiet">Token service at <code>${authUrl}</code>, for development and tests</p>
          </div>
          <p id="connection" class="connection" role="status">Connecting</p>
        </header>
        <noscript
          ><p class="notice">This page needs JavaScript for everything but looking.</p></noscript
        >
        <nav class="sections" aria-label="Sections">
          ${SECTIONS.map(([id, name]) => html`<a href="#${id}">${name}</a>`)}
        </nav>
        <main id="main" tabindex="-1">
          ${columns.map((panels) => html`<div class="column">${panels}</div>`)}
        </main>
        <p id="outcome" class="outcome" role="status" hidden></p>
      </body>
    </html>`
}

export function partDocument(parts: readonly Html[]): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <title>Part</title>
      </head>
      <body>
        ${parts}
      </body>
    </html>`
}
