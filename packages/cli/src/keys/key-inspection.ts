import { AuthError } from '@portcullis/core'
import { parseJson } from '@portcullis/kit/json'

import { readTextFile } from '../input/token-input.ts'
import { memberOf } from '../input/unread-json.ts'
import { untilInterrupted } from '../surroundings/interruption.ts'
import type { Context } from '../surroundings/terminal.ts'
import {
  documentIn,
  type KeyOptions,
  type KeyPlace,
  keysBehind,
  type RemotePlace,
} from './key-choice.ts'
import { lintKeyDocument, type LintedDocument, type Remark } from './key-lint.ts'
import type { SeenDocument } from './seen-document.ts'

// Collects what `keys` and `doctor` report: the document entry by entry, the answer that it came in, and the clock of its server.

/** What can be said of the keys at a URL or in a file. */
export interface KeyInspection extends LintedDocument {
  /** The URL, the issuer or the file. */
  readonly where: string
  /** Of an issuer. */
  readonly discovered: Discovered | undefined
  /** Why there are no keys, in core's words. */
  readonly failure: { readonly reason: string; readonly detail: string } | undefined
  /** Of a URL. */
  readonly answer: KeyAnswer | undefined
}

/** What was asked for the keys of an issuer. */
interface Discovered {
  /** Where metadata were asked for, and what the answer was; `undefined` without an answer. */
  readonly metadata: readonly { readonly url: string; readonly status: number | undefined }[]
  /** What the metadata name. */
  readonly keyUrl: string | undefined
}

/** What the answer of a URL says beside the document. Seconds. */
export interface KeyAnswer {
  readonly status: number | undefined
  readonly contentType: string | undefined
  readonly cacheControl: string | undefined
  readonly age: string | undefined
  /** How long this process would keep the document before it asks again. */
  readonly maxAge: number | undefined
  /** How far the clock of the server is ahead of ours. */
  readonly clockDifference: number | undefined
}

const NOTHING: LintedDocument = { keys: [], others: 0, remarks: [] }

/** @throws CommandError for a place that no keys may come from. */
export async function inspect(
  place: KeyPlace,
  options: KeyOptions,
  context: Context,
): Promise<KeyInspection> {
  if (place.kind !== 'file') return await inspectRemote(place, options, context)
  const text = await readTextFile(place.where, context)
  return {
    where: place.where,
    discovered: undefined,
    failure: undefined,
    answer: undefined,
    ...lintKeyDocument(documentIn(text, place.where), options.algorithmName),
  }
}

/** The keys that are fetched, and what came with them. */
async function inspectRemote(
  place: RemotePlace,
  options: KeyOptions,
  context: Context,
): Promise<KeyInspection> {
  const { source: keys, seen, where } = await keysBehind(place, options, context)
  try {
    await untilInterrupted(keys.refresh(), context.signal)
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
  }
  const { lastFailure, maxAge, untriedKeys } = keys.status()
  const answer = answerOf(seen, maxAge)
  const document = lastFailure?.reason === 'unreachable' ? undefined : parseJson(seen.text ?? '')
  const linted = isKeyDocument(document)
    ? lintKeyDocument(document, options.algorithmName)
    : NOTHING
  return {
    where,
    discovered: place.kind === 'issuer' ? discoveredIn(seen) : undefined,
    ...linted,
    failure: lastFailure && { reason: lastFailure.reason, detail: lastFailure.detail },
    answer,
    remarks: [
      ...linted.remarks,
      ...answerRemarks(answer, untriedKeys),
      ...(lastFailure === undefined ? typeRemarks(answer) : []),
    ],
  }
}

function discoveredIn({ metadata, url }: SeenDocument): Discovered {
  return { metadata: [...metadata].map(([asked, status]) => ({ url: asked, status })), keyUrl: url }
}

/** Whether there is something in it to look at. If not, core says what it is instead. */
function isKeyDocument(document: unknown): boolean {
  return memberOf(document, 'kty') !== undefined || Array.isArray(memberOf(document, 'keys'))
}

function answerOf({ response, clockDifference }: SeenDocument, maxAge: number | undefined) {
  const header = (name: string) => response?.headers.get(name) ?? undefined
  return {
    status: response?.status,
    contentType: header('content-type'),
    cacheControl: header('cache-control'),
    age: header('age'),
    maxAge,
    clockDifference,
  }
}

/** Seconds. `Date` has no fractions, and an answer takes its time. */
const CLOCKS_MAY_DIFFER = 5

function answerRemarks({ clockDifference }: KeyAnswer, untriedKeys: number): readonly Remark[] {
  const remarks: Remark[] = []
  const difference = Math.round(clockDifference ?? 0)
  if (Math.abs(difference) > CLOCKS_MAY_DIFFER) {
    const side = difference > 0 ? 'ahead of' : 'behind'
    remarks.push({
      level: 'problem',
      text: `the clock of the server is ${Math.abs(difference)} s ${side} the one of this machine: tokens seem expired, or not yet valid`,
    })
  }
  if (untriedKeys > 0) {
    remarks.push({
      level: 'problem',
      text: `${untriedKeys} keys too many fit one token: 8 are tried`,
    })
  }
  return remarks
}

function typeRemarks({ contentType }: KeyAnswer): readonly Remark[] {
  if (contentType === undefined || /json/i.test(contentType)) return []
  return [{ level: 'note', text: `the answer is called ${contentType}, and not JSON` }]
}
