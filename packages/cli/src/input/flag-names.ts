// Core's sentences name the options of its functions. Here they name the flags of this program.

const FLAGS: Readonly<Record<string, string>> = {
  algorithmNames: '--algorithm-name',
  algorithms: '--algorithm',
  audience: '--audience',
  clockTolerance: '--clock-tolerance',
  confirmation: '--confirmation',
  endpoint: '--introspection-url',
  issuer: '--issuer',
  maxTokenAge: '--max-token-age',
  requiredClaims: '--required-claim',
  requireExpiry: '--no-require-expiry',
  timeout: '--timeout',
  type: '--type',
}

const BEGINNING = new RegExp(String.raw`^(${Object.keys(FLAGS).join('|')})(?=:? )`)

/** What stands outside of quotes, where core shows what others wrote. */
const PHRASES: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\balgorithms: \['([\w-]+)'\]/g, '--algorithm $1'],
  [/\ballowInsecure: true\b/g, '--allow-insecure'],
  [
    /\bwith issuer: null, endpoint must be stated/g,
    'state where to ask: --introspection-url, or --discover',
  ],
  [/\bclientSecret\b/g, '--client-secret-env or --client-secret-file'],
  [/\bwrite discoverKeys\(issuer\)/g, 'state --discover and the issuer'],
  [/\bin discoverKeys and in the verifier\b/g, 'after --discover'],
]

/** Of two names in quotes. In what others wrote, quotes are escaped. */
const OTHER_NAME = /\balgorithmNames(?:: | is )\{ "([^"\\]+)": "([\w-]+)" \}/g

/** A sentence of core as this program says it. Quoted values stay as they are. */
export function inFlags(sentence: string): string {
  return sentence
    .replace(/^(?:createVerifier|discoverKeys|explain|introspected|localKeys|remoteKeys): /, '')
    .replace(BEGINNING, (name) => FLAGS[name] ?? name)
    .replaceAll(OTHER_NAME, '--algorithm-name $1=$2')
    .split(/("(?:[^"\\]|\\.)*")/)
    .map((part, at) => (at % 2 === 1 ? part : replaced(part)))
    .join('')
}

function replaced(text: string): string {
  let changed = text
  for (const [phrase, instead] of PHRASES) changed = changed.replaceAll(phrase, instead)
  return changed
}
