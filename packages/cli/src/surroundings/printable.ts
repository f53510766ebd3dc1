// Makes safe for a terminal what tokens, keys and answers say.

/**
 * What others wrote, as a terminal may show it: letters of any script stay, and whatever moves the cursor, changes the
 * direction of the text or cannot be seen is escaped as in JSON.
 */
export function printable(text: string): string {
  return text.replaceAll(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, at) => escaped(character.charCodeAt(at))).join(''),
  )
}

/** The same as {@link printable} of JSON, which stays JSON with the same value: it has nothing to escape but in its texts. */
export function printableJson(value: unknown, indent?: number): string {
  return printable(JSON.stringify(value, null, indent))
}

function escaped(code: number): string {
  return String.raw`\u${code.toString(16).padStart(4, '0')}`
}
