/// <reference types="node" />
// What `start` runs: plain JavaScript, so that every Node can say what to do when nothing is installed.
import { existsSync } from 'node:fs'

const isInstalled = existsSync(new URL('../node_modules/.modules.yaml', import.meta.url))
if (!isInstalled || !process.features.typescript) {
  console.error('pnpm has to install packages and a newer Node first. Run: npx --yes pnpm@12 start')
  process.exit(1)
}
await import('./start.ts')
