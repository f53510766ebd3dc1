/** One folder of core's sources. */
interface Room {
  readonly name: string
  /** The rooms that it imports values from. */
  readonly calls: readonly string[]
  /** Those that it imports types alone from. */
  readonly types: readonly string[]
  /** Its files that other rooms may import. */
  readonly doors: readonly string[]
}

/**
 * The rooms of core, from the ground up. A room may use those above it in the table alone: what it calls, and of what it takes
 * types alone. Others import nothing but its doors; of several, the first says what the room is for. Steps never call each
 * other: only the verifier does, the explanation and the check of a DPoP proof, and each knows its order.
 */
const TABLE = `
room        | calls                                                                      | takes types of | doors
ground      |                                                                            |                | copy base64url scopes encoded-object
refusal     | ground                                                                     |                | errors refusals presentation text
report      | refusal                                                                    |                | diagnostics debug-log
algorithms  | refusal                                                             |                | algorithms accepted-algorithms ml-dsa
keys        | ground refusal report algorithms                                           |                | key-source local-keys jwk details
token       | ground refusal algorithms                                                  | keys           | token signature event-loop details
claims      | ground refusal                                                             |                | claims kind required-claims auth possession signed-claims schema expiry details
possession  | ground refusal                                                             | claims         | binding mutual-tls details
revocation  | ground refusal claims                                                      |                | revocation-check revocations
dpop        | ground refusal algorithms keys token claims                                |                | proof-check
verifier    | ground refusal report algorithms keys token claims possession revocation   |                | verifier verifier-options prover verified-tokens internals revocation-watch
issuers     | refusal report token claims verifier                                |                |
requirement | ground refusal claims                                                      | verifier       | requirement-list details
request     | ground refusal report claims possession dpop verifier requirement          |                |
explain     | refusal algorithms keys token claims possession revocation verifier |                |
`

/** The files beside the rooms: what can be imported from the package. They make nothing themselves. */
export const ENTRIES: readonly string[] = ['adapter', 'explain', 'index', 'verifier']

/** What the decisions of the key cache are made of. */
export const DECISIONS: readonly string[] = [
  '@portcullis/kit/pace',
  '@portcullis/kit/time',
  'algorithms/algorithms',
  'keys/lifetime',
  'keys/pace',
  'keys/ring',
  'keys/rotation',
]

/** Which files of core import from the platform or from a dependency. */
export const OUTSIDE: Readonly<Record<string, readonly string[]>> = {
  'lru-cache': [
    'dpop/proof',
    'issuers/issuer-memory',
    'keys/suspect',
    'token/token',
    'verifier/verified-tokens',
  ],
  'node:crypto': [
    'algorithms/ml-dsa',
    'dpop/nonces',
    'dpop/proof-claims',
    'keys/jwk',
    'keys/jwk-input',
    'keys/local-keys',
    'keys/suspect',
    'possession/forwarded-certificate',
    'revocation/token-digest',
    'token/signature',
  ],
  'node:diagnostics_channel': ['report/diagnostics'],
  'node:net': ['possession/peer-list'],
  'node:util': ['dpop/nonces', 'possession/mutual-tls'],
}

export const ROOMS: readonly Room[] = TABLE.trim()
  .split('\n')
  .slice(1)
  .map((row) =>
    row.split('|').map((cell) =>
      cell
        .trim()
        .split(' ')
        .filter((word) => word !== ''),
    ),
  )
  .map(([[name = ''] = [], calls = [], types = [], doors = []]) => ({ name, calls, types, doors }))
