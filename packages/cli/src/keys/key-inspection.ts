import { AuthError } from '@portcullis/core'
import { parseJson } from '@portcullis/kit/json'

import { readTextFile } from '../input/named-file.ts'
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
import { lintKeyDocument, type Remark } from './key-lint.ts'
import { clockWords, type SeenDocument } from './seen-document.ts'

// Collects what `keys` and `doctor` report: the document entry by entry, the answer that it came in, and the clock of its server.

export type KeyInspection = Awaited<ReturnType<typeof inspectRemote>>

/** What the answer of a URL says beside the document. Seconds. */
export type KeyAnswer = ReturnType<typeof answerOf>

const NOTHING: ReturnType<typeof lintKeyDocument> = { keys: [], others: 0, remarks: [] }

/** @throws CommandError for a place that no keys may come from. */
export async function inspect(place: KeyPlace, options: KeyOptions, context: Context) {
  if (place.kind !== 'file') return await inspectRemote(place, options, context)
  const text = await readTextFile(place.where, context)
  const linted = lintKeyDocument(documentIn(text, place.where), options.algorithmName)
  return {
    where: place.where,
    discovered: undefined,
    failure: undefined,
    answer: undefined,
    ...linted,
  }
}

async function inspectRemote(place: RemotePlace, options: KeyOptions, context: Context) {
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
    /** Why there are no keys, in core's words. */
    failure: lastFailure && { reason: lastFailure.reason, detail: lastFailure.detail },
    answer: answer as KeyAnswer | undefined,
    remarks: [
      ...linted.remarks,
      ...answerRemarks(answer, untriedKeys),
      ...(lastFailure === undefined ? typeRemarks(answer) : []),
    ],
  }
}

function discoveredIn({ metadata, url }: SeenDocument) {
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
    /** How long this process would keep the document before it asks again. */
    maxAge,
    /** How far the clock of the server is ahead of ours. */
    clockDifference,
  }
}

function answerRemarks(answer: KeyAnswer, untriedKeys: number): readonly Remark[] {
  const clock = clockWords('the server', answer)
  const texts = [
    ...(clock === undefined ? [] : [`${clock}: tokens seem expired, or not yet valid`]),
    ...(untriedKeys > 0 ? [`${untriedKeys} keys too many fit one token: 8 are tried`] : []),
  ]
  return texts.map((text) => ({ level: 'problem', text }))
}

function typeRemarks({ contentType }: KeyAnswer): readonly Remark[] {
  if (contentType === undefined || /json/i.test(contentType)) return []
  return [{ level: 'note', text: `the answer is called ${contentType}, and not JSON` }]
}
