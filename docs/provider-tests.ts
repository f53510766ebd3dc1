import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { blocksOf } from '../test/documents/markdown.ts'
import { root } from './entries.ts'

// How to test the tokens of a provider, on its page: with a token that has the claims of the one that the page shows.

/** Times of the day on which the page was written. */
const TIMES = new Set(['exp', 'iat', 'nbf'])

/** @param type What its header must name, where the options want it. */
export function providerTest(page = '', algorithm = '', type?: string): string {
  const text = readFileSync(join(root, `packages/providers/docs/${page}.md`), 'utf8')
  const shown = blocksOf(text).find(({ language }) => language === 'json')?.code ?? '{}'
  const claims = Object.entries(JSON.parse(shown) as object).filter(([name]) => !TIMES.has(name))
  const header = type === undefined ? '' : `  header: { typ: '${type}' },\n`
  return `\`\`\`ts
import { createTestIssuer } from '@portcullis/testing'

const issuer = await createTestIssuer({ algorithm: '${algorithm}' })
const { keys } = issuer.verifierOptions
export const tested = createVerifier({ ...options, keys })
export const token = await issuer.token({
  claims: {
${claims.map(([name, value]) => `    ${memberOf(name, value)},\n`).join('')}  },
${header}})
\`\`\``
}

function memberOf(name: string, value: unknown): string {
  return `${/^\w+$/.test(name) ? name : `'${name}'`}: ${literalOf(value)}`
}

function literalOf(value: unknown): string {
  if (typeof value === 'string') return `'${value.replaceAll("'", String.raw`\'`)}'`
  if (Array.isArray(value)) return `[${value.map(literalOf).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  return `{ ${Object.entries(value)
    .map(([name, each]) => memberOf(name, each))
    .join(', ')} }`
}
