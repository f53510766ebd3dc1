import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { createVerifier, remoteKeys } from '@portcullis/core'
import { createTestIssuer, manualClock, type TestIssuer } from '@portcullis/testing'
import { createRemoteJWKSet, customFetch, jwtVerify } from 'jose'

import { seededRandom } from './random.ts'
import { folder } from './rotation-pictures.ts'
import { band, drawn, MARKS, type Panel, type Scale } from './timeline.ts'

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

/** Whether tokens of an issuer were accepted, and how many seconds after the endpoint changed to what is published. */
type Seen = readonly (readonly [at: number, isAccepted: boolean])[]

type Story = readonly [
  published: TestIssuer | undefined,
  signer: TestIssuer,
  sent: readonly [until: number, interval: number],
]

/** The change comes a minute after the keys of the first were fetched. */
async function follow(
  create: (fetch: Fetch) => Verify,
  ...[published, signer, [until, interval]]: Story
): Promise<Seen> {
  let serving: TestIssuer | undefined = issuers[0]
  const verify = create(async () => {
    if (serving === undefined) throw new TypeError('fetch failed')
    return Response.json({ keys: [{ ...serving.publicJwk, kid: KID }] })
  })
  await verify(await tokenOf(issuers[0]))
  await clock.advance(MINUTE)
  serving = published
  const token = await tokenOf(signer)
  const seen: [number, boolean][] = []
  for (let at = 0; at < until; at += interval) {
    const isAccepted = await verify(token).then(
      () => true,
      () => false,
    )
    seen.push([at, isAccepted])
    await clock.advance(interval)
  }
  return seen
}

type Lanes = readonly (readonly [name: string, seen: Seen])[]

async function lanesOf(of: string, ...story: Story): Promise<Lanes> {
  const lanes: [string, Seen][] = []
  for (const [name, create] of Object.entries(VERIFIERS))
    lanes.push([`${name}, ${of}`, await follow(create, ...story)])
  return lanes
}

const [old, next] = issuers
const inRotation = await lanesOf('key B', next, next, [12 * MINUTE, MINUTE / 2])
const inOutage = await lanesOf('known key', undefined, old, [60 * MINUTE, 2.5 * MINUTE])
const marked = (lanes: Lanes, x: Scale) =>
  lanes.map(([name, seen]): [string, string[]] => [
    name,
    seen.map(([at, isAccepted]) => MARKS[isAccepted ? 'accepted' : 'refused'](x(at))),
  ])
const counted = (lanes: Lanes) =>
  lanes
    .map(([name, seen]) => {
      const accepted = seen.filter(([, isAccepted]) => isAccepted).length
      return `${name}: ${accepted} of ${seen.length} genuine tokens accepted`
    })
    .join('; ')

const minutes = (first: string, later: readonly number[]): Panel['ticks'] => [
  [0, first],
  ...later.map((at) => [at * MINUTE, `${at} min`] as const),
]

const PANELS: readonly Panel[] = [
  {
    title: 'The issuer replaces its key, and keeps the kid',
    from: -2 * MINUTE,
    until: 12 * MINUTE,
    ticks: minutes('rotation', [5, 10]),
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
    ticks: minutes('outage', [20, 40, 60]),
    lanes: (x) => [
      ['key endpoint', [band('down', { from: 0, until: 60 * MINUTE }, x)]],
      ...marked(inOutage, x),
    ],
  },
]

const text = drawn(
  'What becomes of genuine tokens in Portcullis, and in jose with its key set',
  [inRotation, inOutage].map((lanes, at) => `${PANELS[at]?.title}. ${counted(lanes)}.`).join(' '),
  PANELS,
  [
    ['accepted', 'a genuine token, accepted', 0],
    ['refused', 'a genuine token, not accepted', 196],
  ],
)
if (process.argv.includes('--print')) process.stdout.write(text)
else writeFileSync(join(folder, 'comparison.svg'), text)
