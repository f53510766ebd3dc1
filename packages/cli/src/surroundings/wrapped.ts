// Breaks texts into lines for a terminal.

/** A text in lines of so many characters; all but the first begin with spaces. Longer words stay whole. */
export function wrapped(text: string, columns: number, indent: number): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const room = columns - indent
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].join(`\n${' '.repeat(indent)}`)
}
