import type { KeyPhases } from '@portcullis/testing'
import { html } from 'hono/html'

import type { LoggedEvent } from '../serve/event-log.ts'
import { storyOf } from './event-story.ts'
import { clock, type Html } from './text.ts'

// The panel of the console with the newest events, each with what it means.

/** How many events a page shows, as the script in the browser has it. */
const MAX_ROWS = 200

const SIGNS = { good: '●', refused: '◆', failed: '✕', change: '◇' } as const

export function logPanel(rows: Html): Html {
  return html`<section class="panel" id="log-panel" aria-labelledby="log-title">
    <header class="panel-head">
      <h2 id="log-title">Log</h2>
      <button type="button" id="pause" aria-pressed="false">Pause</button>
    </header>
    <p class="quiet">
      Log-ins, key fetches, changes and reported verdicts, the newest first. Times are UTC. Open one
      to read what it means.
    </p>
    <div class="scroll" tabindex="0" role="region" aria-label="Events">${rows}</div>
    <p class="quiet" id="log-status" role="status"></p>
  </section>`
}

/** The newest first. */
export function logRows(events: readonly LoggedEvent[], keys: readonly KeyPhases[]): Html {
  const newest = events.slice(-MAX_ROWS).toReversed()
  return html`<ol id="log" class="log">
    ${newest.map((event) => row(event, keys))}
  </ol>`
}

function row(event: LoggedEvent, keys: readonly KeyPhases[]): Html {
  const { what, who, result, tone, sentences } = storyOf(event, keys)
  return html`<li id="event-${event.id}" data-id="${event.id}" class="event ${tone}">
    <details>
      <summary>
        <span class="sign" aria-hidden="true">${SIGNS[tone]}</span>
        ${clock(event.time)}
        <span class="what">${what}</span>
        ${who === undefined ? '' : html`<span class="who">${who}</span>`}
        <span class="result">${result}</span>
      </summary>
      <div class="story">${sentences.map((sentence) => html`<p>${sentence}</p>`)}</div>
    </details>
  </li>`
}
