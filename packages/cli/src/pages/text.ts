import { html } from 'hono/html'

import { printable } from '../surroundings/printable.ts'

// What all panels use to show texts, times and keys.

/** A piece of a page. What is put into it is escaped. */
export type Html = ReturnType<typeof html>

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

/** As much of a thumbprint as people compare. */
export function shortName(thumbprint: string): string {
  return thumbprint.slice(0, 8)
}
