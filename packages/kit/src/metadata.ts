import type { Exchange } from './http/exchange.ts'
import { badDocument, type FetchFailure, fetchJson, within } from './http/fetch-json.ts'
import { isJsonObject, type JsonObject, member } from './json.ts'
import { urlComplaint } from './options.ts'

// From an issuer to one of the URLs that its metadata name.

export interface MetadataReader {
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

/** @param endpoint Such as `token_endpoint`. @param hasCertificate Some issuers have other URLs for that: RFC 8705 section 5. */
export function endpointReader(
  factory: string,
  name: string,
  endpoint: string,
  hasCertificate: boolean,
): MetadataReader {
  const endpointIn = (metadata: JsonObject) => member(metadata, endpoint)
  return {
    factory,
    alsoIn: '',
    find(metadata) {
      const aliases = hasCertificate ? member(metadata, 'mtls_endpoint_aliases') : undefined
      return (isJsonObject(aliases) ? endpointIn(aliases) : undefined) ?? endpointIn(metadata)
    },
    name,
  }
}

export interface AskedIssuer {
  readonly reader: MetadataReader
  readonly identifier: string
  readonly allowInsecure: boolean
}

/** One whose identifier has been checked, and where its metadata may be: in the order in which they are asked for. */
export interface Issuer extends AskedIssuer {
  readonly metadataUrls: readonly string[]
}

const METADATA_PATH = /\/\.well-known\/(?:openid-configuration|oauth-authorization-server)(?:\/|$)/

/**
 * OpenID Connect Discovery 1.0 section 4 first, then RFC 8414 section 3.
 * @throws TypeError for an issuer that is neither https nor loopback, and for the URL of its metadata.
 */
export function checkIssuer(
  identifier: string,
  allowInsecure: boolean,
  reader: MetadataReader = KEYS,
): Issuer {
  const { factory } = reader
  const complaint =
    typeof identifier === 'object' ? 'must be a string' : urlComplaint(identifier, allowInsecure)
  // Mistake `…: the issuer …`: It must be an absolute URL, and https beyond this machine.
  if (complaint !== undefined) throw new TypeError(`${factory}: the issuer ${complaint}`)
  const { pathname, search, hash } = new URL(identifier)
  if (METADATA_PATH.test(pathname)) {
    // Mistake `…: the issuer must be without "/.well-known/..."`: That is the URL of the metadata. Give the issuer that they
    // name, exactly as they write it.
    throw new TypeError(
      `${factory}: the issuer must be without "/.well-known/...": that is the URL of its metadata, which name the issuer`,
    )
  }
  if (search !== '' || hash !== '') {
    // Mistake `…: the issuer must have neither a query nor a fragment`: Give the issuer as its tokens name it in `iss`, not a URL
    // of its metadata.
    throw new TypeError(`${factory}: the issuer must have neither a query nor a fragment`)
  }
  return {
    reader,
    identifier,
    metadataUrls: metadataUrls(identifier, 'openid-configuration'),
    allowInsecure,
  }
}

/** @see OpenID Connect Discovery 1.0 section 4; RFC 8414 section 3 */
type MetadataForm = 'openid-configuration' | 'oauth-authorization-server'

/**
 * Where the metadata of an issuer may be: both forms, in the order in which they are asked for.
 *
 * @param first `openid-configuration` where keys or an introspection endpoint are wanted, since most issuers of tokens are OpenID
 *   providers; `oauth-authorization-server` where a token endpoint of OAuth is.
 */
export function metadataUrls(identifier: string, first: MetadataForm): readonly string[] {
  const { origin, pathname } = new URL(identifier)
  const path = pathname.replace(/\/$/, '')
  const openid = `${origin}${path}/.well-known/openid-configuration`
  const oauth = `${origin}/.well-known/oauth-authorization-server${path}`
  return first === 'openid-configuration' ? [openid, oauth] : [oauth, openid]
}

/** What an answer with this status says of the other place: `pause`, that it must not be asked now either. RFC 6585 section 4 */
export function afterStatus(status: unknown): 'next' | 'pause' {
  return status === 429 ? 'pause' : 'next'
}

export interface PlaceReader<Outcome, Wanted extends Outcome> {
  /** Never rejects. */
  readonly read: (url: string) => Promise<Outcome>
  readonly isWanted: (outcome: Outcome) => outcome is Wanted
  /** Whether {@link afterStatus} says so of the answer. */
  readonly wantsPause: (outcome: Outcome) => boolean
}

/**
 * The first outcome that is wanted, or all others.
 *
 * When a place has failed, or not answered within its share (seconds), the next is asked as well: so one that hangs or fails hides no other
 * (some gateways answer 5xx for an unknown path), and a slow one can still answer. Whoever wants a pause is asked for nothing else.
 */
export async function readPlaces<Outcome, Wanted extends Outcome>(
  urls: readonly string[],
  { read, isWanted, wantsPause }: PlaceReader<Outcome, Wanted>,
  share: number,
  attempt: Pick<Exchange, 'clock' | 'signal'>,
): Promise<Wanted | readonly Outcome[]> {
  const reads: Promise<Outcome>[] = []
  let isPaused = false
  const noting = async (url: string) => {
    const outcome = await read(url)
    isPaused ||= wantsPause(outcome)
    return outcome
  }
  for (const url of urls) {
    if (isPaused || attempt.signal.aborted) break
    reads.push(noting(url))
    const found = await within(share, firstWanted(reads, isWanted), attempt)
    if (found !== undefined) return found
  }
  return (await firstWanted(reads, isWanted)) ?? (await Promise.all(reads))
}

/** The wanted URL that the metadata name. Never rejects. @param share As of {@link readPlaces}. */
export async function findUrl(
  issuer: Issuer,
  exchange: Exchange,
  share: number,
): Promise<string | FetchFailure> {
  const paused = new Set<string>()
  const get = async (url: string) => {
    const response = await exchange.get(url)
    // Whatever an injected `fetch` resolves with.
    if (afterStatus(Reflect.get(Object(response), 'status')) === 'pause') paused.add(url)
    return response
  }
  const reader: PlaceReader<ReadUrl, ReadUrl & { readonly outcome: string }> = {
    read: async (url) => ({
      url,
      outcome: await readUrl(url, issuer, { ...exchange, get }),
    }),
    isWanted: isFound,
    wantsPause: ({ url }) => paused.has(url),
  }
  const found = await readPlaces(issuer.metadataUrls, reader, share, exchange)
  return 'outcome' in found ? found.outcome : mostTelling(found.map(({ outcome }) => outcome))
}

interface ReadUrl {
  readonly url: string
  readonly outcome: string | FetchFailure
}

function isFound(read: ReadUrl): read is ReadUrl & { readonly outcome: string } {
  return typeof read.outcome === 'string'
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
  return metadata.failure === undefined ? urlInMetadata(metadata.value, issuer) : metadata
}

function otherIssuer(issuer: unknown, { identifier, reader }: AskedIssuer): string {
  const places = `write it so in ${reader.factory}${reader.alsoIn}`
  if (issuer === `${identifier}/`) {
    return `the metadata write the issuer with a slash at the end: ${places}`
  }
  if (typeof issuer === 'string' && `${issuer}/` === identifier) {
    return `the metadata write the issuer without the slash at the end: ${places}`
  }
  return 'the metadata are of another issuer'
}

/** The wanted URL, or what is wrong with the document, without anything that it says. */
export function urlInMetadata(metadata: unknown, issuer: AskedIssuer): string | FetchFailure {
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
