/**
 * What others wrote, as a terminal may show it: letters of any script stay, and whatever moves the cursor, changes the
 * direction of the text or cannot be seen is escaped as in JSON.
 */
export function printable(text: string): string {
  return text.replaceAll(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, at) => escaped(character.charCodeAt(at))).join(''),
  )
}

function escaped(code: number): string {
  return String.raw`\u${code.toString(16).padStart(4, '0')}`
}
