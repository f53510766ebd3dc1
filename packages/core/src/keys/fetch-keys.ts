import {
  badDocument,
  type Exchange,
  type FetchFailure,
  fetchJson,
  type JsonDocument,
} from '@portcullis/kit/http'
import { isJsonObject } from '@portcullis/kit/json'

import type { EntryRules } from './entry-rules.ts'
import { type KeyDocument, readUsableKeys } from './key-document.ts'

// From a URL to usable keys, or why there are none.

/** A key document with a usable key, at least. */
export interface FetchedKeys extends KeyDocument {
  readonly failure: undefined
  /** How much longer it says that it is fresh, in seconds; `undefined` if it does not say. */
  readonly freshnessLifetime: number | undefined
}

const METADATA =
  ': it is the metadata of an issuer, so write discoverKeys(issuer), or take the URL that is its jwks_uri'

/** Gets one key document. Never rejects: one without a usable key is a failure in words. */
export async function fetchKeys(
  url: string,
  exchange: Exchange,
  entryRules: EntryRules,
): Promise<FetchedKeys | FetchFailure> {
  return usableKeys(await fetchJson(url, exchange), entryRules)
}

/** The keys of a document that came by whatever way. */
export function usableKeys(
  answer: JsonDocument | FetchFailure,
  entryRules: EntryRules,
): FetchedKeys | FetchFailure {
  if (answer.failure !== undefined) return answer
  const document = readUsableKeys(answer.value, entryRules)
  if (typeof document === 'string') {
    return badDocument(isMetadata(answer.value) ? `${document}${METADATA}` : document)
  }
  return { failure: undefined, ...document, freshnessLifetime: answer.freshnessLifetime }
}

function isMetadata(document: unknown): boolean {
  return isJsonObject(document) && Object.hasOwn(document, 'jwks_uri')
}
