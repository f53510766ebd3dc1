/** A Markdown table, with columns as wide as their longest cell unless it is for a document, where a new row is to change one line. */
export function markdownTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  isPadded = true,
): string {
  const lines = [header, header.map(() => '---'), ...rows]
  const widths = header.map((_, at) => Math.max(...lines.map((row) => row[at]?.length ?? 0)))
  const pad = (cell: string, at: number) => cell.padEnd(isPadded ? (widths[at] ?? 0) : 0)
  return lines.map((row) => `| ${row.map(pad).join(' | ')} |`).join('\n')
}

/** A column: its title, and what is in it for each row. */
export type Column<Row> = readonly [
  title: string,
  cell: (row: Row) => number | string,
  digits?: number,
]

/** Prints a row for each, with a line above. Numbers have two digits unless told otherwise, and what is not measured has none. */
export function printTable<Row>(
  above: string,
  columns: readonly Column<Row>[],
  rows: Iterable<Row>,
): void {
  const cells = [...rows].map((row) =>
    columns.map(([, cell, digits = 2]) => {
      const value = cell(row)
      if (typeof value === 'string') return value
      return Number.isNaN(value) ? '' : value.toFixed(digits)
    }),
  )
  const titles = columns.map(([title]) => title)
  console.log(`${above === '' ? '' : `${above}\n\n`}${markdownTable(titles, cells)}\n`)
}
