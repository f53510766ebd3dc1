import { pathToFileURL } from 'node:url'

import {
  type FetchFailure,
  type JsonDocument,
  platformCode,
  readDocument,
} from '@portcullis/kit/http'
import { checkArgument, isText } from '@portcullis/kit/options'

import { usableKeys } from './fetch-keys.ts'
import { followKeys, type RemoteKeys } from './key-cache.ts'
import { checkRemoteKeysOptions, type RemoteKeysOptions } from './remote-keys-options.ts'

// Keys in a file that somebody else writes, such as a mounted secret, an agent or a job.

/**
 * Public keys in a file that changes: a single JSON Web Key or a JWK set of at most 1 MiB. It is read again as `remoteKeys` fetches
 * again: when the keys are old, or when a token suggests that one was replaced, within that very request.
 *
 * Nothing is read before the first use, and nothing is watched. A file that is missing, half-written or without a usable key is a
 * failed read: the keys of before are used as long as those of an endpoint that is down. Whoever writes the file controls the keys.
 *
 * @param path Of a regular file, or of a link to one. It is resolved once.
 * @throws TypeError for a path that is no text or `file:` URL, and for a wrong option.
 * @see RFC 7517 sections 4 and 5
 */
export function fileKeys(
  path: string | URL,
  options: Omit<RemoteKeysOptions, 'fetch' | 'allowInsecure'> = {},
): RemoteKeys {
  const { entryRules, cacheOf } = checkRemoteKeysOptions('fileKeys', options, [
    'fetch',
    'allowInsecure',
  ])
  const url = fileUrl(path)
  const load = async (signal: AbortSignal) => usableKeys(await readKeyFile(url, signal), entryRules)
  return followKeys(load, cacheOf(url.href))
}

function fileUrl(path: unknown): URL {
  if (path instanceof URL && path.protocol === 'file:') return path
  checkArgument(
    'fileKeys',
    'the path',
    isText(path) && 'must be the path of a file, or a file: URL',
  )
  return pathToFileURL(String(path))
}

/** Never rejects. The path is in no failure: it may be of one tenant. */
async function readKeyFile(url: URL, signal: AbortSignal): Promise<JsonDocument | FetchFailure> {
  try {
    // Other runtimes have no files, and never come here.
    const { constants, open } = await import('node:fs/promises')
    // A pipe without a writer would hold the process up.
    const file = await open(url, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const isRegular = (await file.stat()).isFile()
      return isRegular
        ? await readDocument(file.createReadStream({ autoClose: false }), signal)
        : unreadable(': it is no regular file')
    } finally {
      await file.close()
    }
  } catch (error) {
    const code = platformCode(error)
    return unreadable(code === undefined ? '' : ` (${code})`)
  }
}

function unreadable(why: string): FetchFailure {
  return {
    failure: 'unreachable',
    detail: `the key file could not be read${why}`,
    retryAfter: undefined,
  }
}
