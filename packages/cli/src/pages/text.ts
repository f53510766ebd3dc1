import { html } from 'hono/html'

import { printable } from '../surroundings/printable.ts'

// What all panels are built of, and how they show texts, times and keys.

/** A piece of a page. What is put into it is escaped. */
export type Html = ReturnType<typeof html>

export type Choices = readonly (readonly [value: string, name: string])[]

export function panel(id: string, title: string, ...parts: readonly Html[]): Html {
  return html`<section class="panel" id="${id}" aria-labelledby="${id}-title">
    <header class="panel-head"><h2 id="${id}-title">${title}</h2></header>
    ${parts}
  </section>`
}

export function options(choices: Choices): readonly Html[] {
  return choices.map(([value, name]) => html`<option value="${value}">${name}</option>`)
}

/** @param form How it is laid out: a class of page.css. */
export function select(
  name: string,
  label: string,
  content: readonly Html[],
  form: 'inline' | 'block' = 'inline',
): Html {
  return html`<label class="${form}"
    ><span>${label}</span>
    <select name="${name}">
      ${content}
    </select></label
  >`
}

export function field(name: string, label: string, value: string, placeholder = ''): Html {
  return html`<label class="block"
    ><span>${label}</span
    ><input
      name="${name}"
      value="${value}"
      placeholder="${placeholder}"
      autocomplete="off"
      spellcheck="false"
  /></label>`
}

/** What others wrote, so that it can neither hide nor turn the text around it; a long one in part. */
export function shown(text: string, max: number = 200): string {
  const safe = printable(text.slice(0, max))
  return text.length > max ? `${safe}... (${text.length} characters)` : safe
}

/** `08:15:02`, in UTC, as the log on the terminal has it. */
export function clock(seconds: number): Html {
  const iso = new Date(seconds * 1000).toISOString()
  return html`<time datetime="${iso}">${iso.slice(11, 19)}</time>`
}

export function shortName(thumbprint: string): string {
  return thumbprint.slice(0, 8)
}
