import { readFile } from 'node:fs/promises'

import { BROWSER } from '../package-files.ts'

// Serves the folder `browser/`: no name of a request becomes a path unless it is in the table.

const TYPES: Readonly<Record<string, string>> = {
  'ask.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
  'live.js': 'text/javascript; charset=utf-8',
  'page.css': 'text/css; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
}

/** @returns `undefined` for any name that is not one of these. */
export async function browserFile(name: string): Promise<Response | undefined> {
  const type = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined
  if (type === undefined) return undefined
  return new Response(await readFile(new URL(name, BROWSER)), { headers: { 'content-type': type } })
}
