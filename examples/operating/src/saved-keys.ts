import { readFileSync } from 'node:fs'

import type { KeysSnapshot } from '@portcullis/core'

/** The keys that save-keys.ts has saved. A file that is missing or broken must not keep a program from starting. */
export function savedKeys(file: string): KeysSnapshot | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as KeysSnapshot // judged by `remoteKeys`
  } catch (error) {
    console.warn(`starting without saved keys: ${String(error)}`)
    return undefined
  }
}
