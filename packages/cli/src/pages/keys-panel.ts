import type { Endpoint, KeyPhases } from '@portcullis/testing'
import { html } from 'hono/html'

import type { ServiceState } from '../serve/service.ts'
import { clock, clockText, type Html, shortName, shown } from './text.ts'
import type { Bar, Mark, Timeline } from './timeline.ts'

// The panel of the console with the time line of the keys, and the buttons that rotate them.

/** How far back the time line can go, in seconds. */
export const SPANS: ReadonlyMap<string, number | undefined> = new Map([
  ['60', 60],
  ['300', 300],
  ['3600', 3600],
  ['all', undefined],
])
const SPAN_NAMES: Readonly<Record<string, string>> = {
  '60': '1 min',
  '300': '5 min',
  '3600': '1 hour',
  all: 'all',
}

export function keysPanel(live: Html): Html {
  return html`<section class="panel" id="keys" aria-labelledby="keys-title">
    <header class="panel-head">
      <h2 id="keys-title">Keys</h2>
      <fieldset class="choice" id="span">
        <legend class="quiet">Show the last</legend>
        ${[...SPANS.keys()].map(
          (name) =>
            html`<label
              ><input
                type="radio"
                name="span"
                value="${name}"
                ${name === '300' ? html`checked` : ''}
              /><span>${SPAN_NAMES[name]}</span></label
            >`,
        )}
      </fieldset>
    </header>
    ${live} ${rotation()}
  </section>`
}

const FORMS: readonly (readonly [publish: string, name: string, what: string])[] = [
  ['now', 'Rotate at once', 'The new key is published and signs.'],
  ['first', 'Publish first', 'The new key is published. It signs when you finish.'],
  ['later', 'Publish late', 'The new key signs. It is published when you finish.'],
  ['both', 'Publish both', 'A set has both keys. The old one leaves when you finish.'],
]

function rotation(): Html {
  return html`<form class="actions" data-form="rotate" aria-label="Rotate the key">
    <div class="tiles">
      ${FORMS.map(
        ([publish, name, what]) =>
          html`<button type="submit" name="publish" value="${publish}" class="tile">
            <strong>${name}</strong><span>${what}</span>
          </button>`,
      )}
    </div>
    <div class="row">
      <label class="inline"
        ><span>kid of the new key</span>
        <select name="kid">
          <option value="new">its own</option>
          <option value="same">that of the old key</option>
          <option value="none">none</option>
        </select></label
      >
      <label class="inline"
        ><span>Its second half</span>
        <select name="after">
          <option value="">when you finish it</option>
          <option value="10">by itself after 10 s</option>
          <option value="30">by itself after 30 s</option>
          <option value="120">by itself after 2 min</option>
        </select></label
      >
      <span class="buttons">
        <button type="button" data-post="complete" class="primary">Finish the rotation</button>
        <button type="button" data-post="rollback">Roll back</button>
      </span>
    </div>
  </form>`
}

const PENDING = {
  sign: 'A rotation is half done: the new key is published, and does not sign yet.',
  publish: 'A rotation is half done: the new key signs, and is not published yet.',
  withdraw: 'A rotation is half done: the old key is still published beside the new one.',
} as const

/** The part that changes by itself. */
export function keysLive(
  timeline: Timeline,
  { pending, pendingSecondsLeft: left }: ServiceState,
): Html {
  const { keys, clients, hiddenKeys, changes } = timeline
  const lines = changes.map(
    (at) => html`<line class="boundary" x1="${at}%" x2="${at}%" y1="-30" y2="60" />`,
  )
  return html`<div data-live id="timeline">
    ${
      pending === undefined
        ? ''
        : html`<p class="notice">
            <span aria-hidden="true">◐</span> ${PENDING[pending]}${
              left === undefined ? '' : ` It finishes by itself in ${Math.ceil(left)} s.`
            }
          </p>`
    }
    <ol class="time-rows">
      ${keys.map(({ key, published, signing }) => keyRow(key, published, signing, lines))}
      ${clients.map((client) => clientRow(client, lines))} ${axis(timeline)}
    </ol>
    ${legend(hiddenKeys)}
  </div>`
}

const ROWS: Readonly<Record<Endpoint, string>> = {
  keys: 'Key fetches',
  token: 'Log-ins',
  introspection: 'Introspections',
  metadata: 'Metadata',
}

function clientRow(
  { name, endpoint, marks, last }: Timeline['clients'][number],
  lines: readonly Html[],
): Html {
  return html`<li class="time-row">
    <div class="time-row-name">
      <span class="time-row-title">${ROWS[endpoint]}</span>
      <span class="quiet">${shown(name, 40)}: ${marks.length}, the last ${clock(last.time)}</span>
    </div>
    <svg class="track" height="26" aria-hidden="true">
      ${lines} ${marks.map((mark) => markOf(mark))}
    </svg>
  </li>`
}

function axis({ ticks }: Timeline): Html {
  return html`<li class="time-row axis" aria-hidden="true">
    <div class="time-row-name quiet">UTC</div>
    <svg class="track" height="22">
      ${ticks.map(
        ({ at, time }, number) =>
          html`<g class="${number % 2 === 1 ? 'odd' : ''} ${isAtEdge(at) ? 'edge' : ''}">
            <line x1="${at}%" x2="${at}%" y1="0" y2="5" />
            <text x="${at}%" y="18" text-anchor="middle">${clockText(time)}</text>
          </g>`,
      )}
      <text x="100%" y="18" text-anchor="end">now</text>
    </svg>
  </li>`
}

function legend(hiddenKeys: number): Html {
  return html`<p class="legend quiet">
    <span
      ><svg width="26" height="10" aria-hidden="true">
        <rect class="published" width="26" height="10" rx="3" />
      </svg>
      published</span
    >
    <span
      ><svg width="26" height="10" aria-hidden="true">
        <rect class="signing" width="26" height="10" rx="3" />
      </svg>
      signs</span
    >
    <span
      ><svg width="12" height="12" aria-hidden="true">
        <circle class="good" cx="6" cy="6" r="4" />
      </svg>
      answered</span
    >
    <span
      ><svg width="12" height="12" aria-hidden="true">
        <path class="failed" d="M2 2 10 10M10 2 2 10" />
      </svg>
      refused, or failed</span
    >
    ${hiddenKeys === 0 ? '' : html`<span>${hiddenKeys} older ${hiddenKeys === 1 ? 'key' : 'keys'} not shown</span>`}
  </p>`
}

/** In per cent: where the text of a tick is cut off, or in the way of "now", on a narrow page. */
function isAtEdge(at: number): boolean {
  return at < 10 || at > 80
}

function keyRow(
  key: KeyPhases,
  published: readonly Bar[],
  signing: readonly Bar[],
  lines: readonly Html[],
): Html {
  const { thumbprint, publicJwk } = key
  const { kid } = publicJwk
  const named = kid === undefined ? ', no kid' : kid === thumbprint ? '' : `, kid ${shown(kid, 40)}`
  return html`<li class="time-row key">
    <div class="time-row-name">
      <span class="time-row-title">Key <code>${shortName(thumbprint)}</code>${named}</span>
      <span class="quiet">${useOf('published', key.published)}</span>
      <span class="quiet">${useOf('signs', key.signing)}</span>
    </div>
    <svg class="track" height="34" aria-hidden="true">
      ${lines}
      ${published.map(
        ({ at, width }) =>
          html`<rect class="published" x="${at}%" width="${width}%" y="3" height="12" rx="3" />`,
      )}
      ${signing.map(
        ({ at, width }) =>
          html`<rect class="signing" x="${at}%" width="${width}%" y="19" height="12" rx="3" />`,
      )}
    </svg>
  </li>`
}

function useOf(word: 'published' | 'signs', phases: KeyPhases['published']): Html {
  const last = phases.at(-1)
  if (last === undefined) return html`${word === 'signs' ? 'has not signed' : 'not published'}`
  if (last.until === undefined) return html`<b>${word}</b> since ${clock(last.from)}`
  return html`${word === 'signs' ? 'signed' : word} until ${clock(last.until)}`
}

function markOf({ at, time, status }: Mark): Html {
  const words = `${clockText(time)}: ${status ?? 'no answer'}`
  if (status === 200) {
    return html`<circle class="good" cx="${at}%" cy="13" r="4.5"><title>${words}</title></circle>`
  }
  return html`<svg x="${at}%" y="8" overflow="visible">
    <path class="failed" d="M-5 0 5 10M5 0 -5 10"><title>${words}</title></path>
  </svg>`
}
