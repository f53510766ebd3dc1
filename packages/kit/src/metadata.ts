import type { Exchange } from './http/exchange.ts'
import { badDocument, type FetchFailure, fetchJson, within } from './http/fetch-json.ts'
import { isJsonObject, type JsonObject, member } from './json.ts'
import { urlComplaint } from './options.ts'

// From an issuer to one of the URLs that its metadata name.

/** Who reads metadata, and what for. */
export interface MetadataReader {
  /** The function that takes the issuer. */
  readonly factory: string
  /** Where else the issuer has to be written as its metadata write it, such as ` and in the verifier`. */
  readonly alsoIn: string
  /** Finds the wanted URL in the metadata; what it returns is checked. */
  readonly find: (metadata: JsonObject) => unknown
  /** What failures call the URL. */
  readonly name: string
}

const KEYS: MetadataReader = {
  factory: 'discoverKeys',
  alsoIn: ' and in the verifier',
  find: (metadata) => member(metadata, 'jwks_uri'),
  name: 'key URL',
}

/** An issuer, and where its metadata may be: in the order in which they are asked for. */
export interface Issuer {
  readonly reader: MetadataReader
  readonly identifier: string
  readonly metadataUrls: readonly string[]
  readonly allowInsecure: boolean
}

const METADATA_PATH = /\/\.well-known\/(?:openid-configuration|oauth-authorization-server)(?:\/|$)/

/**
 * The issuer's metadata locations: OpenID Connect Discovery first, then RFC 8414.
 *
 * @throws TypeError for an issuer that is neither https nor loopback, and for the URL of its metadata.
 * @see RFC 8414 section 3; OpenID Connect Discovery 1.0 section 4
 */
export function checkIssuer(
  identifier: string,
  allowInsecure: boolean,
  reader: MetadataReader = KEYS,
): Issuer {
  const { factory } = reader
  const complaint =
    typeof identifier === 'object' ? 'must be a string' : urlComplaint(identifier, allowInsecure)
  if (complaint !== undefined) throw new TypeError(`${factory}: the issuer ${complaint}`)
  const { origin, pathname, search, hash } = new URL(identifier)
  if (METADATA_PATH.test(pathname)) {
    throw new TypeError(
      `${factory}: the issuer must be without "/.well-known/...": that is the URL of its metadata, which name the issuer`,
    )
  }
  if (search !== '' || hash !== '') {
    throw new TypeError(`${factory}: the issuer must have neither a query nor a fragment`)
  }
  const path = pathname.replace(/\/$/, '')
  const metadataUrls = [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ]
  return { reader, identifier, metadataUrls, allowInsecure }
}

/**
 * The wanted URL that the metadata name. Never rejects.
 *
 * When a location has not answered within its share of the time, the next is asked as well, and the first answer that
 * names the URL counts. So one that hangs does not hide the other, and one that is slow can still answer.
 *
 * @param share Seconds.
 */
export async function findUrl(
  issuer: Issuer,
  exchange: Exchange,
  share: number,
): Promise<string | FetchFailure> {
  const reads: Promise<string | FetchFailure>[] = []
  for (const url of issuer.metadataUrls) {
    reads.push(readUrl(url, issuer, exchange))
    const found = await within(share, firstWanted(reads, isUrl), exchange)
    if (found !== undefined) return found
  }
  return (await firstWanted(reads, isUrl)) ?? mostTelling(await Promise.all(reads))
}

/** The first outcome that is wanted; `undefined` once all have come and none is. */
export async function firstWanted<Outcome, Wanted extends Outcome>(
  outcomes: readonly Promise<Outcome>[],
  isWanted: (outcome: Outcome) => outcome is Wanted,
): Promise<Wanted | undefined> {
  return await new Promise((resolve, reject) => {
    const wanted = outcomes.map(async (each) => {
      const outcome = await each
      if (isWanted(outcome)) resolve(outcome)
    })
    Promise.all(wanted).then(() => {
      resolve(undefined)
    }, reject)
  })
}

function isUrl(outcome: string | FetchFailure): outcome is string {
  return typeof outcome === 'string'
}

/** A document with wrong content explains more than one that could not be had. */
function mostTelling(outcomes: readonly (string | FetchFailure)[]): string | FetchFailure {
  const failures = outcomes.filter((each) => typeof each !== 'string')
  return (
    failures.find(({ failure }) => failure === 'bad_document') ??
    failures.at(-1) ??
    badDocument('there are no metadata')
  )
}

async function readUrl(
  url: string,
  issuer: Issuer,
  exchange: Exchange,
): Promise<string | FetchFailure> {
  const metadata = await fetchJson(url, exchange, 'the metadata URL')
  return metadata.failure === undefined ? urlOf(metadata.value, issuer) : metadata
}

function otherIssuer(issuer: unknown, { identifier, reader }: Issuer): string {
  const places = `write it so in ${reader.factory}${reader.alsoIn}`
  if (issuer === `${identifier}/`) {
    return `the metadata write the issuer with a slash at the end: ${places}`
  }
  if (typeof issuer === 'string' && `${issuer}/` === identifier) {
    return `the metadata write the issuer without the slash at the end: ${places}`
  }
  return 'the metadata are of another issuer'
}

function urlOf(metadata: unknown, issuer: Issuer): string | FetchFailure {
  const { identifier, allowInsecure, reader } = issuer
  const document: JsonObject = isJsonObject(metadata) ? metadata : {}
  // The comparison is exact: metadata of another issuer would bring keys of that issuer.
  const stated = member(document, 'issuer')
  if (stated !== identifier) return badDocument(otherIssuer(stated, issuer))
  const url = reader.find(document)
  if (typeof url !== 'string' || urlComplaint(url, allowInsecure) !== undefined) {
    return badDocument(`the metadata name no usable ${reader.name}`)
  }
  const parsed = new URL(url)
  // A remote issuer must not be able to make us call services of this machine.
  if (new URL(identifier).protocol === 'https:' && parsed.protocol !== 'https:' && !allowInsecure) {
    return badDocument(`the metadata of an https issuer name a ${reader.name} that is not`)
  }
  parsed.hash = ''
  return parsed.href
}
