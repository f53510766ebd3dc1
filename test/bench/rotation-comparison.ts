import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { createVerifier, remoteKeys } from '@portcullis/core'
import { createTestIssuer, manualClock, type TestIssuer } from '@portcullis/testing'
import { createRemoteJWKSet, customFetch, jwtVerify } from 'jose'

import { seededRandom } from './random.ts'
import { folder } from './rotation-pictures.ts'
import { band, drawn, MARKS, type Panel } from './timeline.ts'

// The picture of the README: what becomes of genuine tokens in Portcullis and in jose, whose key sets most guards for Node
// use. Both verify real tokens in virtual time, with their defaults: `node test/draw.ts comparison`. With `--print` it writes nothing.
// Only a process of its own may run this: it replaces the time and the random numbers of the whole process.

const MINUTE = 60
const KID = 'signing-key'
const URL_OF_KEYS = 'https://auth.test/keys'

const clock = manualClock()
// Nothing else drives jose: `cooldownDuration` and `cacheMaxAge` are measured with Date.now() alone.
Date.now = () => clock.now() * 1000
// Portcullis draws its jitter from it, and the picture has to be the same each time.
Math.random = seededRandom(20_260_101)
const issuers = [await createTestIssuer({ clock }), await createTestIssuer({ clock })] as const

type Fetch = () => Promise<Response>
type Verify = (token: string) => Promise<unknown>

const VERIFIERS: Readonly<Record<string, (fetch: Fetch) => Verify>> = {
  Portcullis(fetch) {
    const keys = remoteKeys(URL_OF_KEYS, { fetch, clock })
    const verifier = createVerifier({ keys, issuer: null, audience: null, clock })
    return (token) => verifier.verify(token)
  },
  jose(fetch) {
    const keySet = createRemoteJWKSet(new URL(URL_OF_KEYS), { [customFetch]: fetch })
    // As much as Portcullis checks by default.
    const rules = { algorithms: ['RS512'], requiredClaims: ['exp'], clockTolerance: 5 }
    return (token) =>
      jwtVerify(token, keySet, { ...rules, currentDate: new Date(clock.now() * 1000) })
  },
}

/** Its lifetime is longer than any story. */
const tokenOf = (issuer: TestIssuer) => issuer.token({ expiresIn: 7200, header: { kid: KID } })

interface Seen {
  /** Seconds after the rotation, or after the beginning of the outage. */
  readonly at: number
  readonly isAccepted: boolean
}

/** Tokens of an issuer, from a minute after the keys of the first were fetched, when the endpoint changes to what is published. */
async function follow(
  create: (fetch: Fetch) => Verify,
  published: TestIssuer | undefined,
  { signer, until, interval }: { signer: TestIssuer; until: number; interval: number },
): Promise<readonly Seen[]> {
  let serving: TestIssuer | undefined = issuers[0]
  const verify = create(async () => {
    if (serving === undefined) throw new TypeError('fetch failed')
    return Response.json({ keys: [{ ...serving.publicJwk, kid: KID }] })
  })
  await verify(await tokenOf(issuers[0]))
  await clock.advance(MINUTE)
  serving = published
  const token = await tokenOf(signer)
  const seen: Seen[] = []
  for (let at = 0; at < until; at += interval) {
    const isAccepted = await verify(token).then(
      () => true,
      () => false,
    )
    seen.push({ at, isAccepted })
    await clock.advance(interval)
  }
  return seen
}

const rotated = { signer: issuers[1], until: 12 * MINUTE, interval: MINUTE / 2 }
const down = { signer: issuers[0], until: 60 * MINUTE, interval: 2.5 * MINUTE }

async function lanesOf(of: string, published: TestIssuer | undefined, sent: typeof rotated) {
  const lanes: (readonly [name: string, seen: readonly Seen[]])[] = []
  for (const [name, create] of Object.entries(VERIFIERS))
    lanes.push([`${name}, ${of}`, await follow(create, published, sent)])
  return lanes
}

const [inRotation, inOutage] = [
  await lanesOf('key B', issuers[1], rotated),
  await lanesOf('known key', undefined, down),
]
const marked = (lanes: typeof inOutage, x: (at: number) => number) =>
  lanes.map(([name, seen]): [string, string[]] => [
    name,
    seen.map(({ at, isAccepted }) => MARKS[isAccepted ? 'accepted' : 'refused'](x(at))),
  ])
const counted = (title: string, lanes: typeof inOutage) =>
  `${title}. ${lanes
    .map(([name, seen]) => {
      const accepted = seen.filter(({ isAccepted }) => isAccepted).length
      return `${name}: ${accepted} of ${seen.length} genuine tokens accepted`
    })
    .join('; ')}.`

const PANELS: readonly Panel[] = [
  {
    title: 'The issuer replaces its key, and keeps the kid',
    from: -2 * MINUTE,
    until: 12 * MINUTE,
    ticks: [
      [0, 'rotation'],
      [5 * MINUTE, '5 min'],
      [10 * MINUTE, '10 min'],
    ],
    lanes: (x) => [
      [
        'the issuer signs with',
        [
          band('A', { from: -2 * MINUTE, until: 0 }, x),
          band('B', { from: 0, until: 12 * MINUTE }, x),
        ],
      ],
      ...marked(inRotation, x),
    ],
  },
  {
    title: 'Nobody can reach the key endpoint for an hour',
    from: -5 * MINUTE,
    until: 60 * MINUTE,
    ticks: [
      [0, 'outage'],
      [20 * MINUTE, '20 min'],
      [40 * MINUTE, '40 min'],
      [60 * MINUTE, '60 min'],
    ],
    lanes: (x) => [
      ['key endpoint', [band('down', { from: 0, until: 60 * MINUTE }, x)]],
      ...marked(inOutage, x),
    ],
  },
]

const text = drawn(
  'What becomes of genuine tokens in Portcullis, and in jose with its key set',
  [inRotation, inOutage].map((lanes, at) => counted(PANELS[at]?.title ?? '', lanes)).join(' '),
  PANELS,
  [
    ['accepted', 'a genuine token, accepted', 0],
    ['refused', 'a genuine token, not accepted', 196],
  ],
)
if (process.argv.includes('--print')) process.stdout.write(text)
else writeFileSync(join(folder, 'comparison.svg'), text)
