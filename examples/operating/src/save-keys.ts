import { rename, writeFile } from 'node:fs/promises'

import { remoteKeys } from '@portcullis/core'

// Saves the keys for cold starts: at a build or a deployment, and every few minutes where functions start all day. Without
// keys it fails, and the file stays as it is.

const { AUTH_URL = 'http://127.0.0.1:4010', KEYS_FILE = 'keys.json' } = process.env

// #region save
const keys = remoteKeys(`${AUTH_URL}/tokenservice/pubkey.json`)
await keys.refresh()
// Under another name first: nobody reads half a file.
await writeFile(`${KEYS_FILE}.new`, JSON.stringify(keys.toSnapshot()))
await rename(`${KEYS_FILE}.new`, KEYS_FILE)
// #endregion
