import { execFileSync } from 'node:child_process'

import type { Manifest } from './plan.ts'

// What is in a tarball that would be published.

export function manifestIn(tarball: string): Manifest {
  return JSON.parse(tar('-xzOf', tarball, 'package/package.json')) as Manifest
}

export function filesIn(
  tarball: string,
): readonly { readonly file: string; readonly size: number }[] {
  return tar('-tvzf', tarball)
    .trim()
    .split('\n')
    .map((line) => {
      const [, , size, , , file = ''] = line.split(/\s+/)
      return { file: file.replace(/^package\//, ''), size: Number(size) }
    })
    .toSorted((one, other) => (one.file < other.file ? -1 : 1))
}

function tar(...args: readonly string[]): string {
  return execFileSync('tar', args, { encoding: 'utf8' })
}
