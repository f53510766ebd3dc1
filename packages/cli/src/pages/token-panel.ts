import type { Finding, Verdict } from '@portcullis/core/explain'
import { html } from 'hono/html'

import { claimsText } from '../explain/claim-times.ts'
import { whyUnproven } from '../explain/explanation-report.ts'
import type { ExplainedToken } from '../serve/explain-token.ts'
import { printableJson } from '../surroundings/printable.ts'
import { type Choices, clock, field, type Html, options, panel, select, shown } from './text.ts'

// The panel of the console that explains a token, and how the explanation is shown. It also mints one, to have one to paste.

export function tokenPanel(kinds: readonly { readonly name: string }[]): Html {
  const bad: Choices = kinds.map(({ name }) => [name, `bad: ${shown(name)}`])
  const content = options([['', 'a sound token'], ...bad])
  return panel(
    'explain',
    'Explain a token',
    html`<form class="actions" data-form="explain">
        <label class="block"
          ><span>A token, or a whole <code>Authorization:</code> line</span>
          <textarea
            name="token"
            rows="3"
            required
            spellcheck="false"
            autocomplete="off"
            autocapitalize="off"
            placeholder="eyJ..."
          ></textarea>
        </label>
        <div class="row">
          <p class="quiet">It stays on this machine, and is not kept.</p>
          <span class="buttons"><button type="submit" class="primary">Explain</button></span>
        </div>
      </form>
      <form class="actions" data-form="mint" aria-label="Mint a token">
        <div class="fields">
          ${select('kind', 'Or mint one: kind', content, 'block')}
          ${field('sub', 'Subject (sub)', 'demo')}
          <span class="buttons"><button type="submit">Mint and explain</button></span>
        </div>
      </form>
      <div id="explain-result" tabindex="-1"></div>`,
  )
}

const MARKS = {
  ok: ['✓', 'passed'],
  fail: ['✕', 'failed'],
  skipped: ['–', 'not checked'],
} as const

export function explanationPart(explained: ExplainedToken): Html {
  const { explanation, stripped, hints, advice, madeBy } = explained
  const { findings } = explanation
  const why = whyUnproven(findings)
  const divider = html`<li class="divider">Not proven from here on, since ${why}</li>`
  return html`<div>
    <h3 class="visually-hidden">What services answer</h3>
    <div class="verdicts">${verdicts(explained)}</div>
    ${advice === undefined ? '' : html`<p class="advice"><strong>What to do:</strong> ${shown(advice, 600)}</p>`}
    ${hints.map(({ text }) => html`<p class="hint"><strong>Hint:</strong> ${shown(text, 600)}</p>`)}
    <p><strong>Who signed it:</strong> ${madeBy}</p>
    <h3>Checks</h3>
    <ol class="findings">
      ${findings.map(
        (each) =>
          html`${why !== undefined && each.check === 'type' ? divider : ''}${findingRow(each)}`,
      )}
    </ol>
    ${decoded(explained)}
    ${stripped.length === 0 ? '' : html`<p class="quiet">Read without: ${stripped.join(', ')}.</p>`}
  </div>`
}

function findingRow({ check, outcome, detail }: Finding): Html {
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
  const { inHand, findings } = explanation
  const reasons = findings
    .filter(({ outcome }) => outcome === 'fail')
    .map(({ check, detail }) => `${check}: ${detail}`)
  if (inHand === undefined || inHandFrom === undefined) {
    const note = 'No client has fetched a key yet, so none has older ones.'
    return card(html`With the keys of now`, explanation, reasons, note)
  }
  const note = inHandNote(explained)
  if (
    explanation.verdict === inHand.verdict &&
    explanation.refusal?.reason === inHand.refusal?.reason
  ) {
    const title = html`With the keys of now, and with those of ${clock(inHandFrom)}`
    return card(title, explanation, reasons, note)
  }
  return html`${card(html`With the keys of now`, explanation, reasons, '')}
  ${card(html`With the keys of ${clock(inHandFrom)}`, inHand, [], note)}`
}

function card(
  title: Html,
  { verdict, refusal }: Verdict,
  reasons: readonly string[],
  note: string,
): Html {
  const challenge = refusal?.headers['WWW-Authenticate']
  return html`<div class="verdict ${verdict}">
    <span class="quiet">${title}</span>
    <strong
      ><span aria-hidden="true">${VERDICT_SIGNS[verdict]}</span>
      ${verdict}${refusal === undefined ? '' : html` · ${refusal.status}`}</strong
    >
    <span>${refusal?.reason ?? 'The API answers.'}</span>
    ${reasons.map((reason) => html`<span class="reason">${shown(reason, 600)}</span>`)}
    ${note === '' ? '' : html`<span class="quiet">${note}</span>`}
    ${challenge === undefined ? '' : html`<code class="challenge">WWW-Authenticate: ${challenge}</code>`}
  </div>`
}

function inHandNote({ explanation: { inHand }, inHandFault }: ExplainedToken): string {
  const reason = inHand?.refusal?.reason
  const isAsking = reason === 'signature' || reason === 'unknown_key'
  return [
    ...(isAsking ? ['before it asks for newer keys'] : []),
    ...(inHandFault === undefined
      ? []
      : [`unless it fetched other ones while a fault was in force (${inHandFault})`]),
  ].join('; ')
}

function decoded({ token, explanation, now }: ExplainedToken): Html {
  const { header, provenClaims, unprovenClaims } = explanation
  if (header === undefined) return part('The text', token)
  const claims = provenClaims ?? unprovenClaims
  const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')
  const title =
    claims === undefined
      ? 'Payload, which is not what it must be'
      : provenClaims === undefined
        ? 'Payload, not proven: anybody can write this'
        : 'Payload, proven'
  return html`<div class="decoded">
    ${part('Header', printableJson(header, 2))}
    ${part(title, claims === undefined ? payload : claimsText(claims, now))}
  </div>`
}

function part(title: string, text: string): Html {
  return html`<div>
    <h4>${title}</h4>
    <pre tabindex="0" role="region" aria-label="${title}"><code>${shown(text, 20_000)}</code></pre>
  </div>`
}
