// What the tables of tokens, proofs, events and answers that must be refused are written with.

/** Rows of a table of what must be refused: those of one reason, each by its name. */
export function rows<Row extends readonly [reason: string, name: string, make: unknown]>(
  reason: Row[0],
  makers: Readonly<Record<string, Row[2]>>,
): readonly (readonly [reason: Row[0], name: string, make: Row[2]])[] {
  return Object.entries(makers).map(([name, make]) => [reason, name, make])
}
