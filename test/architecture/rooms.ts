/** One folder of a package's sources. */
export interface Room {
  readonly package: string
  readonly name: string
  /** The rooms that it imports values from. */
  readonly calls: readonly string[]
  /** Those that it imports types alone from. */
  readonly types: readonly string[]
  /** Its files that other rooms may import; `*` if they import most of them. */
  readonly doors: readonly string[]
}

/**
 * The rooms of each package that has some, from the ground up. A room may use those above it in its table alone: what it calls, and
 * of what it takes types alone. Others import nothing but its doors; of several, the first says what the room is for. In core, steps
 * never call each other: only the verifier does, the explanation and the check of a DPoP proof, and each knows its order.
 */
const TABLE = `
[core]
room        | calls                                                                      | takes types of | doors
ground      |                                                                            |                | copy base64url scopes encoded-object
refusal     | ground                                                                     |                | errors refusals presentation text
report      | refusal                                                                    |                | diagnostics debug-log
algorithms  | refusal                                                             |                | algorithms accepted-algorithms ml-dsa profiles
keys        | ground refusal report algorithms                                           |                | key-source local-keys jwk details
token       | ground refusal algorithms                                                  | keys           | token signature event-loop
claims      | ground refusal                                                             |                | claims kind required-claims auth signed-claims schema expiry tenants details
possession  | ground refusal                                                             | claims         | binding mutual-tls details
revocation  | ground refusal claims                                                      |                | revocation-check revocations
dpop        | ground refusal algorithms keys token claims                                |                | proof-check
verifier    | ground refusal report algorithms keys token claims possession revocation   |                | verifier verifier-options verifier-parts key-search verified-tokens internals revocation-watch profile-check
issuers     | refusal report token claims verifier                                |                |
requirement | ground refusal claims                                                      | verifier       | requirement-list details granted-scopes
request     | ground refusal report algorithms claims possession dpop verifier requirement |                |
explain     | refusal algorithms keys token claims possession revocation verifier |                |

[client]
room    | calls                                     | takes types of | doors
answer  |                                           |                | errors http-answer http-time lifetime outage token-response
waiting | answer                                    |                | abort
dpop    | answer                                    |                | dpop dpop-options
request | answer                                    | dpop           | retry token-request
present | answer waiting                            | dpop request   | authorized-fetch
login   | answer waiting dpop request present       |                | client token-client held-token login-exchange option-checks renewal
oauth   | answer waiting request login              | dpop           |

[redis]
room        | calls             | takes types of | doors
store       |                   |                | *
revocations | store             |                | options restoring whole-stream
replays     | store             |                |
program     | store revocations |                |

[cli]
room            | calls                                                        | takes types of | doors
./package-files |                                                              |                |
surroundings    |                                                              |                | *
input           | surroundings                                                 |                | *
openapi         | surroundings input                                           |                | description security
keys            | surroundings input                                           |                | key-choice key-inspection key-report seen-document
explain         | surroundings input keys                                      |                | *
doctor          | surroundings input keys                                      |                | packages service typescript
serve           | surroundings input explain                                   |                | *
probe           | surroundings input explain serve                             |                | cases claims coverage credentials exchange findings judgement kinds minted operations report
pages           | ./package-files surroundings explain serve                   |                | pages
try             | surroundings                                                 |                | play lines story tally
commands        | surroundings input openapi keys explain doctor serve probe pages try |                | *
program         | ./package-files surroundings commands                        |                |
`

/** The files beside the rooms: what can be imported from the package, and its program. A room uses one only if it has a row as well. */
export const ENTRIES: Readonly<Record<string, readonly string[]>> = {
  core: ['adapter', 'explain', 'index', 'verifier'],
  client: ['index', 'oauth'],
  redis: ['bin', 'index'],
  // The second knows where it lies: one folder below what it finds.
  cli: ['main', 'package-files'],
}

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
    'keys/jwk',
    'keys/jwk-input',
    'keys/local-keys',
    'token/signature',
  ],
  'node:diagnostics_channel': ['report/diagnostics'],
  'node:net': ['possession/peer-list'],
  'node:url': ['keys/file-keys'],
  'node:util': ['dpop/nonces', 'possession/mutual-tls'],
}

function cellsOf(row: string): readonly (readonly string[])[] {
  return row.split('|').map((cell) =>
    cell
      .trim()
      .split(' ')
      .filter((word) => word !== ''),
  )
}

export const ROOMS: readonly Room[] = TABLE.trim()
  .split('\n\n')
  .flatMap((table) => {
    const [heading = '', , ...rows] = table.split('\n')
    const owner = heading.slice(1, -1)
    return rows.map(cellsOf).map(([[name = ''] = [], calls = [], types = [], doors = []]) => ({
      package: owner,
      name,
      calls,
      types,
      doors,
    }))
  })

/** An import within a package: both files by their name under `src`. */
export interface LocalImport {
  readonly from: string
  readonly to: string
  readonly isOfTypes: boolean
}

/** `keys` of `keys/jwk`. A file beside the rooms is one of its own, such as `./index`. */
export function roomOf(file: string): string {
  const [folder = '', ...path] = file.split('/')
  return path.length > 0 ? folder : `./${folder}`
}

/** What is wrong with an import between rooms of a package, if anything is. */
export function complaintAboutRoom(
  owner: string,
  { from, to, isOfTypes }: LocalImport,
  rooms: readonly Room[] = ROOMS.filter((room) => room.package === owner),
): string | undefined {
  // An entry takes from all rooms what it hands on.
  if (!from.includes('/') || roomOf(from) === roomOf(to)) return undefined
  const source = rooms.findIndex(({ name }) => name === roomOf(from))
  const target = rooms.findIndex(({ name }) => name === roomOf(to))
  const [room, used] = [rooms[source], rooms[target]]
  if (room === undefined || used === undefined) return `${from} must not import ${to}: no room`
  if (target > source) return `${from} must not import ${to}: that is a room above it`
  const isAllowed = room.calls.includes(used.name) || (isOfTypes && room.types.includes(used.name))
  if (!isAllowed) return `${from} must not import ${to}: its row has no such room`
  const isDoor = !to.includes('/') || used.doors.includes('*') || used.doors.includes(doorOf(to))
  return isDoor ? undefined : `${from} must not import ${to}: that is no door`
}

/** `jwk` of `keys/jwk`. */
export function doorOf(file: string): string {
  return file.split('/').slice(1).join('/')
}
