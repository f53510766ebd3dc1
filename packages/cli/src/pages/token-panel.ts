import type { Finding, Verdict } from '@portcullis/core/explain'
import { html } from 'hono/html'

import { claimsText } from '../explain/claim-times.ts'
import { explanationText, whyUnproven } from '../explain/explanation-report.ts'
import type { ExplainedToken } from '../serve/explain-token.ts'
import type { ServedDocument } from '../serve/key-documents.ts'
import { printableJson } from '../surroundings/printable.ts'
import { clock, clockText, type Html, shown } from './text.ts'

// The panel of the console that explains a token, and how the explanation is shown.

export function tokenPanel(choice: Html): Html {
  return html`<section class="panel" id="explain" aria-labelledby="explain-title">
    <header class="panel-head"><h2 id="explain-title">Explain a token</h2></header>
    <form class="actions" data-form="explain">
      <label class="block"
        ><span>A token, or a whole <code>Authorization:</code> line</span>
        <textarea
          name="token"
          rows="4"
          required
          spellcheck="false"
          autocomplete="off"
          autocapitalize="off"
          placeholder="eyJ..."
        ></textarea>
      </label>
      <div class="row">
        ${choice}
        <span class="buttons"><button type="submit" class="primary">Explain</button></span>
      </div>
      <p class="quiet">It stays on this machine, and nothing of it is kept.</p>
    </form>
    <div id="explain-result" tabindex="-1"></div>
  </section>`
}

/** Which keys a service may have that has not asked again. */
export function documentChoice(documents: readonly ServedDocument[]): Html {
  return html`<label class="inline" data-live id="keys-in-hand"
    ><span>Compare with a service that has</span>
    <select name="at">
      <option value="">the keys of the last fetch</option>
      ${documents
        .slice(-MAX_CHOICES)
        .toReversed()
        .map(({ from }, number) => {
          const name = number === 0 ? 'the keys of now, since' : 'the keys of'
          return html`<option value="${from}">${name} ${clockText(from)}</option>`
        })}
    </select></label
  >`
}

const MAX_CHOICES = 20

const MARKS = {
  ok: ['✓', 'passed'],
  fail: ['✕', 'failed'],
  skipped: ['–', 'not checked'],
} as const

export function explanationPart(explained: ExplainedToken): Html {
  const { explanation, stripped, hints, advice, madeBy } = explained
  const { findings } = explanation
  const why = whyUnproven(findings)
  const firstUnproven = findings.findIndex(({ check }) => check === 'type')
  return html`<div>
    <h3 class="visually-hidden">What services answer</h3>
    <div class="verdicts">${verdicts(explained)}</div>
    ${advice === undefined ? '' : html`<p class="advice"><strong>What to do:</strong> ${shown(advice, 600)}</p>`}
    ${hints.map(({ text }) => html`<p class="hint"><strong>Hint:</strong> ${shown(text, 600)}</p>`)}
    <p><strong>Who signed it:</strong> ${madeBy}</p>
    ${copying(explained)}
    <h3>Checks</h3>
    <ol class="findings">
      ${findings.map(
        (each, at) =>
          html`${
            why !== undefined && at === firstUnproven
              ? html`<li class="divider">Not proven from here on, since ${why}</li>`
              : ''
          }${finding(each)}`,
      )}
    </ol>
    ${segments(explained)}
    ${stripped.length === 0 ? '' : html`<p class="quiet">Read without: ${stripped.join(', ')}.</p>`}
  </div>`
}

function finding({ check, outcome, detail }: Finding): Html {
  const [sign, word] = MARKS[outcome]
  return html`<li class="finding ${outcome}">
    <span class="outcome"><span aria-hidden="true">${sign}</span> ${word}</span>
    <b>${check}</b>
    <span class="detail">${shown(detail, 600)}</span>
  </li>`
}

const VERDICT_SIGNS = { accepted: '✓', refused: '✕', undecided: '?' } as const

/** A card for each answer, and one alone if both kinds of services answer the same. */
function verdicts(explained: ExplainedToken): Html {
  const { explanation, inHandFrom } = explained
  const { inHand } = explanation
  const now = {
    title: html`With the keys of now`,
    verdict: explanation,
    reasons: reasonsOf(explained),
  }
  if (inHand === undefined || inHandFrom === undefined) {
    return card({ ...now, note: 'No client has fetched a key yet, so none has older ones.' })
  }
  const note = inHandNote(explained)
  if (isSame(explanation, inHand)) {
    const title = html`With the keys of now, and with those of ${clock(inHandFrom)}`
    return card({ ...now, title, note })
  }
  const older = { title: html`With the keys of ${clock(inHandFrom)}`, verdict: inHand, reasons: [] }
  return html`${card({ ...now, note: '' })} ${card({ ...older, note })}`
}

function isSame(one: Verdict, other: Verdict): boolean {
  return one.verdict === other.verdict && one.refusal?.reason === other.refusal?.reason
}

/** The checks that have failed, in words. */
function reasonsOf({ explanation: { findings } }: ExplainedToken): readonly string[] {
  return findings
    .filter(({ outcome }) => outcome === 'fail')
    .map(({ check, detail }) => `${check}: ${detail}`)
}

interface Card {
  readonly title: Html
  readonly verdict: Verdict
  readonly reasons: readonly string[]
  /** Of what the service does beside that answer. */
  readonly note: string
}

function card({ title, verdict: { verdict: word, refusal }, reasons, note }: Card): Html {
  const challenge = refusal?.headers['WWW-Authenticate']
  return html`<div class="verdict ${word}">
    <span class="quiet">${title}</span>
    <strong
      ><span aria-hidden="true">${VERDICT_SIGNS[word]}</span>
      ${word}${refusal === undefined ? '' : html` · ${refusal.status}`}</strong
    >
    <span>${refusal?.reason ?? 'The API answers.'}</span>
    ${reasons.map((reason) => html`<span class="reason">${shown(reason, 600)}</span>`)}
    ${note === '' ? '' : html`<span class="quiet">${note}</span>`}
    ${challenge === undefined ? '' : html`<code class="challenge">WWW-Authenticate: ${challenge}</code>`}
  </div>`
}

const FAULT_NOTE = 'unless it fetched other ones while a fault was in force'

function inHandNote({ explanation: { inHand }, inHandFault }: ExplainedToken): string {
  const reason = inHand?.refusal?.reason
  const isAsking = reason === 'signature' || reason === 'unknown_key'
  return [
    ...(isAsking ? ['before it asks for newer keys'] : []),
    ...(inHandFault === undefined ? [] : [`${FAULT_NOTE} (${inHandFault})`]),
  ].join('; ')
}

/** The report of the command `explain`, as it can go into a ticket. */
function copying({ explanation, hints, advice, now }: ExplainedToken): Html {
  const text = explanationText(
    {
      explanation,
      hints,
      advice,
      commands: [],
      where: 'the token service',
      share: true,
    },
    now,
  )
  return html`<p class="buttons">
      <button type="button" name="copy" value="explanation-text">Copy the explanation</button>
      <span class="quiet">without values of claims: fit for a ticket</span>
    </p>
    <pre id="explanation-text" hidden>${text}</pre>`
}

const PARTS = ['header', 'payload', 'signature'] as const
/** Of each part, in characters. */
const MAX_PART = 1200

function segments(explained: ExplainedToken): Html {
  const { token, explanation, now } = explained
  const { header, provenClaims, unprovenClaims } = explanation
  const parts = token.split('.', 4)
  if (header === undefined || parts.length !== 3) {
    return html`<h3>The text</h3>
      <p class="token"><code>${shown(token, MAX_PART)}</code></p>`
  }
  const claims = provenClaims ?? unprovenClaims
  const payload = claims === undefined ? textIn(parts[1] ?? '') : claimsText(claims, now)
  return html`<h3>The token</h3>
    <details class="text">
      <summary>Its text</summary>
      <p class="token">
        ${parts.map(
          (text, at) =>
            html`${at === 0 ? '' : html`<span class="dot">.</span>`}<code class="part-${PARTS[at]}"
                >${shown(text, MAX_PART)}</code
              >`,
        )}
      </p>
    </details>
    <div class="decoded">
      ${decoded('header', 'Header', printableJson(header, 2))}
      ${decoded('payload', payloadTitle(explained), payload)}
    </div>`
}

function payloadTitle({ explanation: { provenClaims, unprovenClaims } }: ExplainedToken): string {
  if (provenClaims !== undefined) return 'Payload, proven'
  if (unprovenClaims !== undefined) return 'Payload, not proven: anybody can write this'
  return 'Payload, which is not what it must be'
}

/** What base64url says, in UTF-8, whatever it is. */
function textIn(part: string): string {
  return Buffer.from(part, 'base64url').toString('utf8')
}

function decoded(part: string, title: string, text: string): Html {
  return html`<div>
    <h4 class="part-${part}">${title}</h4>
    <pre tabindex="0" role="region" aria-label="${title}"><code>${shown(text, 20_000)}</code></pre>
  </div>`
}
