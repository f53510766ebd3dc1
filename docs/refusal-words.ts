import { authErrorReasons } from '../packages/core/src/refusal/refusals.ts'

// The codes and reasons of refusals, for the labels of metrics: that package imports nothing of ours when it runs.

export const REFUSAL_WORDS = 'packages/metrics/src/refusal-words.ts'

/** Characters, as the formatter has it. */
const LONGEST_LINE = 100

/** The whole source. */
export function refusalWords(): string {
  const rows = Object.entries(authErrorReasons).map(([code, reasons]) => rowOf(code, reasons))
  return `// The reasons of each code, as refusals.ts of core has them. \`pnpm write\` writes this file.

export const REASONS_OF = {
${rows.join('')}} as const
`
}

function rowOf(code: string, reasons: readonly string[]): string {
  const words = reasons.map((reason) => `'${reason}'`)
  const line = `  ${code}: [${words.join(', ')}],\n`
  if (line.length <= LONGEST_LINE + 1) return line
  return `  ${code}: [\n${words.map((word) => `    ${word},\n`).join('')}  ],\n`
}
