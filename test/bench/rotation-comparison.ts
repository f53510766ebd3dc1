import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import {
  clock,
  createWarmSetting,
  newIssuer,
  oldIssuer,
  outcomeOf,
  serve,
  type Setting,
} from './peer-setting.ts'
import { jose, type PeerFactory, portcullis } from './peers.ts'
import { folder } from './rotation-pictures.ts'
import {
  type Band,
  drawBand,
  drawLane,
  drawTick,
  drawVerdict,
  END,
  LANE,
  START,
  STYLE,
  WIDTH,
} from './timeline.ts'
import { signedToken } from './tokens.ts'

// The picture of the README: what becomes of genuine tokens in Portcullis and in jose, whose key sets most guards for Node
// use. Both verify real tokens in virtual time, with their defaults: `node test/draw.ts comparison`. With `--print` it writes nothing.

const MINUTE = 60
/** The keys were fetched this long before. */
const FETCHED = MINUTE

interface Seen {
  /** Seconds after the rotation, or after the beginning of the outage. */
  readonly at: number
  readonly isAccepted: boolean
}

/** A token of a new key every half minute, from the moment when it replaces the old one behind the same `kid`. */
async function rotation(factory: PeerFactory): Promise<readonly Seen[]> {
  const setting = await createWarmSetting(factory, 'same kid')
  await clock.advance(FETCHED)
  serve(setting, newIssuer)
  const token = await signedToken(newIssuer, setting.naming)
  return await send(setting, token, { until: 12 * MINUTE, interval: MINUTE / 2 })
}

/** A token of the known key every two and a half minutes, while the endpoint is down. */
async function outage(factory: PeerFactory): Promise<readonly Seen[]> {
  const setting = await createWarmSetting(factory)
  await clock.advance(FETCHED)
  setting.endpoint.die()
  const token = await signedToken(oldIssuer, setting.naming)
  return await send(setting, token, { until: 60 * MINUTE, interval: 2.5 * MINUTE })
}

async function send(
  setting: Setting,
  token: string,
  { until, interval }: { until: number; interval: number },
): Promise<readonly Seen[]> {
  const start = clock.monotonic()
  const seen: Seen[] = []
  for (let at = 0; at < until; at += interval) {
    await clock.advance(start + at - clock.monotonic())
    const { verdict } = await outcomeOf(setting, setting.peer.verify(token))
    seen.push({ at, isAccepted: verdict === 'accepted' })
  }
  return seen
}

interface Panel {
  readonly title: string
  readonly from: number
  readonly until: number
  readonly bands: { readonly name: string; readonly of: readonly Band[] }
  readonly ticks: readonly (readonly [at: number, text: string])[]
  readonly lanes: readonly (readonly [name: string, seen: readonly Seen[]])[]
}

const PANELS: readonly Panel[] = [
  {
    title: 'The issuer replaces its key, and keeps the kid',
    from: -2 * MINUTE,
    until: 12 * MINUTE,
    bands: {
      name: 'the issuer signs with',
      of: [
        { name: 'A', from: -2 * MINUTE, until: 0 },
        { name: 'B', from: 0, until: 12 * MINUTE },
      ],
    },
    ticks: [
      [0, 'rotation'],
      [5 * MINUTE, '5 min'],
      [10 * MINUTE, '10 min'],
    ],
    lanes: [
      ['Portcullis, key B', await rotation(portcullis)],
      ['jose, key B', await rotation(jose)],
    ],
  },
  {
    title: 'Nobody can reach the key endpoint for an hour',
    from: -5 * MINUTE,
    until: 60 * MINUTE,
    bands: { name: 'key endpoint', of: [{ name: 'down', from: 0, until: 60 * MINUTE }] },
    ticks: [
      [0, 'outage'],
      [20 * MINUTE, '20 min'],
      [40 * MINUTE, '40 min'],
      [60 * MINUTE, '60 min'],
    ],
    lanes: [
      ['Portcullis, known key', await outage(portcullis)],
      ['jose, known key', await outage(jose)],
    ],
  },
]

const TITLE_HEIGHT = 52
const PANEL_HEIGHT = TITLE_HEIGHT + 3 * LANE + 30

function drawPanel(panel: Panel, y: number): string {
  const { title, from, until, bands, ticks, lanes } = panel
  const x = (at: number) => START + ((at - from) / (until - from)) * (END - START)
  const rows: readonly (readonly [string, readonly string[]])[] = [
    [bands.name, bands.of.map((band) => drawBand(band, x))],
    ...lanes.map(
      ([name, seen]) =>
        [
          name,
          seen.map(({ at, isAccepted }) => drawVerdict(isAccepted ? 'accepted' : 'refused', x(at))),
        ] as const,
    ),
  ]
  const bottom = TITLE_HEIGHT + rows.length * LANE
  return [
    `  <g transform="translate(0 ${y})">`,
    `  <text class="title" x="12" y="26">${title}</text>`,
    ...ticks.map(([at, text]) => drawTick(x(at), text, bottom, TITLE_HEIGHT)),
    ...rows.map(([name, marks], index) => drawLane(name, marks, TITLE_HEIGHT + index * LANE)),
    '  </g>',
  ].join('\n')
}

function sentenceOf({ title, lanes }: Panel): string {
  const counts = lanes.map(([name, seen]) => {
    const accepted = seen.filter(({ isAccepted }) => isAccepted).length
    return `${name}: ${accepted} of ${seen.length} genuine tokens accepted`
  })
  return `${title}. ${counts.join('; ')}.`
}

function draw(): string {
  const legend = PANELS.length * PANEL_HEIGHT + 26
  const height = legend + 20
  const marks = [
    ['accepted', 'a genuine token, accepted', START + 4],
    ['refused', 'a genuine token, not accepted', START + 200],
  ] as const
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title description">`,
    '  <title id="title">What becomes of genuine tokens in Portcullis, and in jose with its key set</title>',
    `  <desc id="description">${PANELS.map(sentenceOf).join(' ')}</desc>`,
    `  <style>${STYLE}</style>`,
    ...PANELS.map((panel, index) => drawPanel(panel, index * PANEL_HEIGHT)),
    ...marks.map(
      ([verdict, words, left]) =>
        `  <g transform="translate(0 ${legend})">${drawVerdict(verdict, left)}<text class="quiet" x="${left + 11}" y="4">${words}</text></g>`,
    ),
    '</svg>',
  ].join('\n')}\n`
}

const text = draw()
if (process.argv.includes('--print')) process.stdout.write(text)
else writeFileSync(join(folder, 'comparison.svg'), text)
