import type { KeyPhases } from '@portcullis/testing'
import { html } from 'hono/html'

import type { ServiceState } from '../serve/service.ts'
import { type Choices, clock, type Html, options, panel, select, shortName, shown } from './text.ts'

// The panel of the console with the keys, and the buttons that rotate them.

const FORMS: readonly (readonly [publish: string, name: string, what: string])[] = [
  ['now', 'Rotate at once', 'The new key is published and signs.'],
  ['first', 'Publish first', 'The new key is published. It signs when you finish.'],
  ['later', 'Publish late', 'The new key signs. It is published when you finish.'],
  ['both', 'Publish both', 'A set has both keys. The old one leaves when you finish.'],
]

const KIDS: Choices = [
  ['new', 'its own'],
  ['same', 'that of the old key'],
  ['none', 'none'],
]
const SECOND_HALVES: Choices = [
  ['', 'when you finish it'],
  ['10', 'by itself after 10 s'],
  ['30', 'by itself after 30 s'],
  ['120', 'by itself after 2 min'],
]

export function keysPanel(live: Html, { pending }: ServiceState): Html {
  return panel(
    'keys',
    'Keys',
    live,
    html`<form class="actions" data-form="rotate" aria-label="Rotate the key">
      <div class="tiles">
        ${FORMS.map(
          ([publish, name, what]) =>
            html`<button type="submit" name="publish" value="${publish}" class="tile">
              <strong>${name}</strong><span>${what}</span>
            </button>`,
        )}
      </div>
      <div class="row">
        ${select('kid', 'kid of the new key', options(KIDS))}
        ${select('after', 'Its second half', options(SECOND_HALVES))}
        <span class="buttons">
          <button
            type="button"
            data-post="complete"
            class="primary"
            ${hidden(pending === undefined)}
          >
            Finish the rotation
          </button>
          <button type="button" data-post="rollback">Roll back</button>
        </span>
      </div>
    </form>`,
  )
}

function hidden(isHidden: boolean): Html | string {
  return isHidden ? html`hidden` : ''
}

const PENDING = {
  sign: 'A rotation is half done: the new key is published, and does not sign yet.',
  publish: 'A rotation is half done: the new key signs, and is not published yet.',
  withdraw: 'A rotation is half done: the old key is still published beside the new one.',
} as const

const MAX_KEYS = 8

export function keysLive({ keys, pending, pendingSecondsLeft: left }: ServiceState): Html {
  const when = left === undefined ? '' : ` It finishes by itself in ${Math.ceil(left)} s.`
  return html`<div data-live id="keys-now">
    ${pending === undefined ? '' : html`<p class="notice" data-pending>${PENDING[pending]}${when}</p>`}
    <ul class="keys">
      ${keys.slice(-MAX_KEYS).toReversed().map(keyRow)}
    </ul>
  </div>`
}

function keyRow({ thumbprint, publicJwk: { kid }, published, signing }: KeyPhases): Html {
  const named = kid === undefined ? ', no kid' : kid === thumbprint ? '' : `, kid ${shown(kid, 40)}`
  return html`<li>
    <strong>Key <code>${shortName(thumbprint)}</code>${named}</strong>
    <span>${useOf(published, 'published', 'not published', 'published')}</span>
    <span>${useOf(signing, 'signs', 'has not signed', 'signed')}</span>
  </li>`
}

function useOf(phases: KeyPhases['signing'], is: string, isNot: string, was: string): Html {
  const last = phases.at(-1)
  if (last === undefined) return html`<span class="quiet">${isNot}</span>`
  return last.until === undefined
    ? html`<b>${is}</b> since ${clock(last.from)}`
    : html`<span class="quiet">${was} until ${clock(last.until)}</span>`
}
