import type { Endpoint } from '@portcullis/testing'
import { html } from 'hono/html'

import type { ServiceState } from '../serve/service.ts'
import { type Choices, clock, type Html, options, panel, select } from './text.ts'

// The panel of the console that begins and ends faults.

const KINDS: Choices = [
  ['503', '503, not available'],
  ['500', '500, an error'],
  ['429', '429, too many requests'],
  ['404', '404, not there'],
  ['hang', 'no answer at all'],
  ['slow', 'an answer 3 seconds late'],
  ['reset', 'the connection breaks'],
  ['truncated', 'half an answer'],
  ['html', 'a web page instead'],
  ['empty', 'an empty answer'],
]
const KEY_KINDS: Choices = [
  ['stale-key', 'the key of before the last change'],
  ['other-key', 'a key of somebody else'],
  ['key-set', 'the right key, in a set'],
]
const LIMITS: Choices = [
  ['', 'until it is ended'],
  ['times:1', 'for the next answer'],
  ['times:3', 'for three answers'],
  ['seconds:10', 'for 10 seconds'],
  ['seconds:60', 'for a minute'],
]
const ENDPOINTS: Readonly<Record<Endpoint, string>> = {
  keys: 'Key endpoint',
  token: 'Log-in',
  introspection: 'Introspection',
  metadata: 'Metadata',
}

export function faultsPanel(live: Html): Html {
  const ofKeys = html`<optgroup label="Of the key endpoint alone">${options(KEY_KINDS)}</optgroup>`
  return panel(
    'faults',
    'Faults',
    live,
    html`<form class="actions" data-form="fault" aria-label="Begin a fault">
      <div class="row">
        <fieldset class="choice">
          <legend class="quiet">Where</legend>
          <label
            ><input type="radio" name="endpoint" value="keys" checked /><span
              >Key endpoint</span
            ></label
          >
          <label><input type="radio" name="endpoint" value="token" /><span>Log-in</span></label>
        </fieldset>
        ${select('kind', 'What', [...options(KINDS), ofKeys])}
        ${select('limit', 'How long', options(LIMITS))}
        <span class="buttons">
          <button type="submit" class="primary">Begin the fault</button>
          <button type="button" data-post="fault/clear">End all faults</button>
        </span>
      </div>
    </form>`,
  )
}

export function faultsLive({ faults }: ServiceState): Html {
  const names = new Map([...KINDS, ...KEY_KINDS])
  return html`<div data-live id="faults-now">
    ${
      faults.length === 0
        ? html`<p class="quiet">There is none: both endpoints answer as they should.</p>`
        : html`<ul class="faults">
            ${faults.slice(-MAX_SHOWN).map(
              ({ kind, endpoints, since, secondsLeft, timesLeft }) =>
                html`<li>
                  <span aria-hidden="true">▲</span>
                  <strong>${endpoints.map((endpoint) => ENDPOINTS[endpoint]).join(' and ')}</strong
                  >: ${names.get(String(kind)) ?? String(kind)}
                  <span class="quiet">since ${clock(since)}${leftOf(secondsLeft, timesLeft)}</span>
                </li>`,
            )}
          </ul>`
    }
  </div>`
}

const MAX_SHOWN = 10

function leftOf(secondsLeft: number | undefined, timesLeft: number | undefined): string {
  if (secondsLeft !== undefined) return `, for ${Math.ceil(secondsLeft)} s more`
  if (timesLeft !== undefined) return timesLeft === 1 ? ', once more' : `, ${timesLeft} times more`
  return ', until it is ended'
}
