import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { createTestIssuer, manualClock } from '@portcullis/testing'
import { describe, expect, onTestFinished, test } from 'vitest'

import { AuthError, createVerifier, fileKeys, remoteKeys } from '../../src/index.ts'

// A file that others write: whole, half, by a link, or not at all. Time is virtual, the file is real.

const clock = manualClock()
const [ada, bob] = await Promise.all([
  createTestIssuer({ algorithm: 'ES256', clock }),
  createTestIssuer({ algorithm: 'ES256', clock }),
])
const setOf = (...issuers: readonly (typeof ada)[]) =>
  JSON.stringify({ keys: issuers.map(({ publicJwk }) => publicJwk) })

function world(text: string | undefined = setOf(ada)) {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-keys-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true })
  })
  const path = join(folder, 'keys.json')
  if (text !== undefined) writeFileSync(path, text)
  const keys = fileKeys(path, { clock })
  const verifier = createVerifier({ keys, issuer: null, audience: null, clock })
  async function verdict(issuer: typeof ada): Promise<string> {
    try {
      await verifier.verify(await issuer.token({ expiresIn: 100_000 }))
      return 'accepted'
    } catch (error) {
      return error instanceof AuthError ? `${error.code} ${error.reason}` : String(error)
    }
  }
  return { folder, path, keys, verdict }
}

describe('a file with keys', () => {
  test.each([
    ['a set', setOf(ada)],
    ['a bare key', JSON.stringify(ada.publicJwk)],
    ['a byte order mark', `\uFEFF${setOf(ada)}`],
  ])('%s: is read at the first use, and not again while it is young', async (_, text) => {
    const { path, keys, verdict } = world(text)
    expect(keys.status()).toMatchObject({ freshness: 'empty' })
    expect(await verdict(ada)).toBe('accepted')
    unlinkSync(path)
    expect([await verdict(ada), await verdict(ada)]).toEqual(['accepted', 'accepted'])
    expect(keys.status()).toMatchObject({ freshness: 'fresh', lastFailure: undefined })
  })

  test('whose key is replaced: the first token of the new key is accepted, and old ones are not', async () => {
    const { path, verdict } = world()
    expect([await verdict(ada), await verdict(bob)]).toEqual([
      'accepted',
      'invalid_token unknown_key',
    ])
    await clock.advance(60)
    writeFileSync(path, setOf(bob))
    expect([await verdict(bob), await verdict(ada)]).toEqual([
      'accepted',
      'invalid_token unknown_key',
    ])
  })

  test('that is behind a link of a folder which is exchanged, as Kubernetes mounts secrets', async () => {
    const { folder } = world()
    for (const [name, issuer] of [
      ['first', ada],
      ['second', bob],
    ] as const) {
      mkdirSync(join(folder, name))
      writeFileSync(join(folder, name, 'jwks'), setOf(issuer))
    }
    symlinkSync('first', join(folder, '..data'))
    symlinkSync('..data/jwks', join(folder, 'jwks'))
    const keys = fileKeys(pathToFileURL(join(folder, 'jwks')), { clock })
    const verifier = createVerifier({ keys, issuer: null, audience: null, clock })
    await verifier.verify(await ada.token())
    symlinkSync('second', join(folder, 'new'))
    renameSync(join(folder, 'new'), join(folder, '..data'))
    await clock.advance(60)
    await verifier.verify(await bob.token())
    await expect(verifier.verify(await ada.token())).rejects.toMatchObject({
      reason: 'unknown_key',
    })
  })

  test.each<[title: string, spoil: (path: string) => void, reason: string, detail: RegExp]>([
    ['is gone', unlinkSync, 'unreachable', /ENOENT/],
    [
      'is half-written',
      (path) => writeFileSync(path, readFileSync(path, 'utf8').slice(0, -20)),
      'bad_document',
      /./,
    ],
    ['is empty', (path) => writeFileSync(path, ''), 'bad_document', /./],
    ['has no usable key', (path) => writeFileSync(path, '{"keys":[]}'), 'bad_document', /./],
    [
      'has more than 1 MiB',
      (path) => writeFileSync(path, setOf(ada).padEnd(1_048_577)),
      'bad_document',
      /./,
    ],
    [
      'is a folder',
      (path) => {
        unlinkSync(path)
        mkdirSync(path)
      },
      'unreachable',
      /regular file|EISDIR/,
    ],
    [
      'is a pipe to which nobody writes',
      (path) => {
        unlinkSync(path)
        execFileSync('mkfifo', [path])
      },
      'unreachable',
      /regular file/,
    ],
    [
      'is a device without an end',
      (path) => {
        unlinkSync(path)
        symlinkSync('/dev/zero', path)
      },
      'unreachable',
      /regular file/,
    ],
    [
      'is a link to itself',
      (path) => {
        unlinkSync(path)
        symlinkSync(path, path)
      },
      'unreachable',
      /ELOOP/,
    ],
  ])(
    'that %s afterwards: its keys are used for an hour, and then 503',
    async (_, spoil, reason, detail) => {
      const { path, keys, verdict } = world()
      expect(await verdict(ada)).toBe('accepted')
      spoil(path)
      await clock.advance(1800)
      expect(await verdict(ada)).toBe('accepted')
      const { lastFailure } = keys.status()
      expect(lastFailure).toMatchObject({ reason })
      expect(lastFailure?.detail).toMatch(detail)
      expect(lastFailure?.detail).not.toContain(path)
      await clock.advance(2 * 3600)
      expect(await verdict(ada)).toMatch(/^keys_unavailable /)
      rmSync(path, { recursive: true, force: true })
      writeFileSync(path, setOf(ada))
      await clock.advance(600)
      expect(await verdict(ada)).toBe('accepted')
    },
  )

  test('that comes after the process: 503 until it is there', async () => {
    const { path, verdict } = world('')
    unlinkSync(path)
    expect(await verdict(ada)).toBe('keys_unavailable unreachable')
    writeFileSync(path, setOf(ada))
    await clock.advance(60)
    expect(await verdict(ada)).toBe('accepted')
  })

  test('of 1 MiB is read to its end', async () => {
    const { verdict } = world(setOf(ada).padEnd(1_048_576))
    expect(await verdict(ada)).toBe('accepted')
  })

  test('has a snapshot of its own, which no other source takes', async () => {
    const { path, keys, verdict } = world()
    await verdict(ada)
    const snapshot = keys.toSnapshot()
    unlinkSync(path)
    expect(fileKeys(path, { clock, snapshot }).status()).toMatchObject({ freshness: 'fresh' })
    const other = remoteKeys('https://issuer.test/keys', { clock, snapshot })
    expect(other.status()).toMatchObject({ freshness: 'empty' })
  })
})

test.each([undefined, null, '', 7, {}, new URL('https://issuer.test/keys'), ['keys.json']])(
  'the path %o is a TypeError',
  (path) => {
    expect(() => fileKeys(path as string)).toThrow(/^fileKeys: the path must be/)
  },
)

test.each([{ fetch }, { allowInsecure: true }, { maxAg: 1 }, { maxAge: 0 }])(
  'the options %o are a TypeError',
  (options) => {
    expect(() => fileKeys('keys.json', options)).toThrow(/^fileKeys: /)
  },
)
