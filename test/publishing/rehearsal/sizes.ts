import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { mustRun } from '../packed/report.ts'

// What `npm install` adds to an application that has its framework: how many packages, files and octets.

export interface Size {
  readonly packages: number
  readonly files: number
  readonly octets: number
}

/** What is compared, by its row in the first table of the README. What has no name here is for another framework. */
const COMPARED: Readonly<Record<string, string>> = {
  Portcullis: '@portcullis/core @portcullis/express',
  'express-oauth2-jwt-bearer': 'express-oauth2-jwt-bearer',
  'express-jwt, jwks-rsa': 'express-jwt jwks-rsa',
  'passport-jwt, jwks-rsa': 'passport-jwt jwks-rsa',
}

/** By row. Each is installed into a folder of its own, beside Express, which is not counted. */
export async function addedSizes(
  work: string,
  env: NodeJS.ProcessEnv,
): Promise<Readonly<Record<string, Size>>> {
  const express = await sizeWith('', join(work, 'express'), env)
  const rows: Record<string, Size> = {}
  for (const [row, names] of Object.entries(COMPARED)) {
    const { packages, files, octets } = await sizeWith(
      names,
      join(work, row.replaceAll(/\W+/g, '-')),
      env,
    )
    rows[row] = {
      packages: packages - express.packages,
      files: files - express.files,
      octets: octets - express.octets,
    }
  }
  return rows
}

async function sizeWith(names: string, folder: string, env: NodeJS.ProcessEnv): Promise<Size> {
  mkdirSync(folder, { recursive: true })
  const words = `npm install express ${names}`.trim().split(' ')
  await mustRun(words, folder, env)
  const home = join(folder, 'node_modules')
  const lockfile = readFileSync(join(home, '.package-lock.json'), 'utf8')
  const { packages } = JSON.parse(lockfile) as { packages: object }
  const paths = readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== '.package-lock.json')
    .map(({ parentPath, name }) => join(parentPath, name))
  const octets = paths.reduce((sum, path) => sum + statSync(path).size, 0)
  return { packages: Object.keys(packages).length, files: paths.length, octets }
}

/** As a cell of a table. */
export function shownSize({ packages, files, octets }: Size): string {
  return `${packages}, ${files}, ${(octets / 1e6).toFixed(1)} MB`
}
