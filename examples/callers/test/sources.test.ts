import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

const examples = fileURLToPath(new URL('../..', import.meta.url))
const sources = globSync('{callers,graphql,mcp}/src/*.ts', { cwd: examples })

// A longer one would mean that the packages lack something.
test.each(sources)('%s has under 40 lines of code beside its imports', (source) => {
  const text = readFileSync(`${examples}/${source}`, 'utf8').replaceAll(
    /^import .*?from .*?$/gms,
    '',
  )
  const code = text.split('\n').filter((line) => !/^\s*(?:\/\/.*|\/\*\*.*)?$/.test(line))
  expect(code.length).toBeLessThan(40)
})
