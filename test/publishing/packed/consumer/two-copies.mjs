import assert from 'node:assert/strict'
import { cpSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import * as core from '@portcullis/core'
import { authenticate } from '@portcullis/express'

// Two copies of the packed core in one process, as a package manager makes them where versions do not fit together: what one has made is
// refused by the other, with both paths, and its errors are understood.

const first = realpathSync(join('node_modules', '@portcullis', 'core'))
// Beside the first, so that both find their dependencies.
const path = join(first, '..', `core-${process.pid}`)
cpSync(first, path, { recursive: true })
try {
  const entry = async (name) => await import(pathToFileURL(join(path, 'dist', `${name}.js`)).href)
  const [second, { createUnobservedVerifier }] = [await entry('index'), await entry('verifier')]
  const options = { issuer: null, audience: null }
  const keys = () => second.remoteKeys('https://a.test')
  const namesBoth = ({ name, message }) => {
    assert.equal(name, 'TypeError')
    for (const part of [first, path, '`npm ls @portcullis/core`']) {
      assert.ok(message.includes(part), `${part} is missing in: ${message}`)
    }
    return true
  }
  assert.throws(() => core.createVerifier({ ...options, keys: keys() }), namesBoth)
  // All entries of one copy are that copy.
  const verifier = createUnobservedVerifier({ ...options, keys: keys() })
  assert.throws(() => authenticate(verifier), namesBoth)
  const error = new second.AuthError('invalid_token', 'expired')
  assert.ok(error instanceof core.AuthError)
  assert.equal(core.refusal(error), error)
} finally {
  rmSync(path, { recursive: true, force: true })
}
