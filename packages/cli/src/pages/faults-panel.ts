import type { Endpoint } from '@portcullis/testing'
import { html } from 'hono/html'

import type { ServiceState } from '../serve/service.ts'
import { clock, type Html } from './text.ts'

// The panel of the console that begins and ends faults.

const KINDS: readonly (readonly [value: string, name: string])[] = [
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
/** Of the key endpoint alone. */
const KEY_KINDS: readonly (readonly [value: string, name: string])[] = [
  ['stale-key', 'the key of before the last change'],
  ['other-key', 'a key of somebody else'],
  ['key-set', 'the right key, in a set'],
]
const LIMITS: readonly (readonly [value: string, name: string])[] = [
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
  return html`<section class="panel" id="faults" aria-labelledby="faults-title">
    <header class="panel-head"><h2 id="faults-title">Faults</h2></header>
    ${live}
    <form class="actions" data-form="fault" aria-label="Begin a fault">
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
        <label class="inline"
          ><span>What</span>
          <select name="kind">
            ${options(KINDS)}
            <optgroup label="Of the key endpoint alone">${options(KEY_KINDS)}</optgroup>
          </select></label
        >
        <label class="inline"
          ><span>How long</span>
          <select name="limit">
            ${options(LIMITS)}
          </select></label
        >
        <span class="buttons">
          <button type="submit" class="primary">Begin the fault</button>
          <button type="button" data-post="fault/clear">End all faults</button>
        </span>
      </div>
    </form>
  </section>`
}

function options(choices: typeof KINDS): readonly Html[] {
  return choices.map(([value, name]) => html`<option value="${value}">${name}</option>`)
}

/** The part that changes by itself. */
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
