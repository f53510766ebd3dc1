import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { NAMES, type Story, tell, type Told } from './rotation-story.ts'
import { band, drawn, MARKS, type Panel } from './timeline.ts'

// The pictures of KEYS.md in core, drawn from what the policy decides: `node test/draw.ts rotation`. A test compares them.

const MINUTE = 60
const WORDS = { accepted: 'accepted', refused: 'refused', unavailable: 'answered with 503' }
const LEGEND = [
  ['accepted', 'accepted (200)', 0],
  ['refused', 'refused (401)', 130],
  ['unavailable', 'nobody can tell (503)', 252],
] as const

export const folder: string = join(import.meta.dirname, '../../packages/core/pictures')

export const ROTATION: Story = { from: -20, until: 60, rotatesAt: 0, interval: 3 }
export const FLOOD: Story = { ...ROTATION, forged: 200 }
export const OUTAGE: Story = {
  from: -10 * MINUTE,
  until: 100 * MINUTE,
  rotatesAt: 30 * MINUTE,
  outage: { from: 0, until: 80 * MINUTE },
  interval: MINUTE / 2,
  shownEvery: 6,
}

const SECONDS: Panel['ticks'] = [-20, 0, 20, 40, 60].map((at) => [
  at,
  at === 0 ? 'rotation' : `${at} s`,
])
const MINUTES: Panel['ticks'] = [
  [0, 'outage'],
  [30 * MINUTE, '30 min: rotation'],
  [60 * MINUTE, '60 min'],
  [80 * MINUTE, '80 min: it is back'],
]

const PICTURES: Readonly<Record<string, readonly [Story, title: string, Panel['ticks']]>> = {
  rotation: [
    ROTATION,
    'A rotation: the first token of the new key fetches it, and is accepted',
    SECONDS,
  ],
  flood: [FLOOD, 'The same in a flood of forged tokens, 200 in a second', SECONDS],
  outage: [OUTAGE, 'An outage of 80 minutes, with a rotation in it', MINUTES],
}

/** The text of each file. */
export function pictures(): ReadonlyMap<string, string> {
  return new Map(Object.entries(PICTURES).map(([name, of]) => [`${name}.svg`, picture(...of)]))
}

function picture(story: Story, title: string, ticks: Panel['ticks']): string {
  const told = tell(story)
  const { from, until, rotatesAt, outage, forged } = story
  const lanes: Panel['lanes'] = (x) => [
    [
      'signs and publishes',
      [band('A', { from, until: rotatesAt }, x), band('B', { from: rotatesAt, until }, x)],
    ],
    ...(outage === undefined ? [] : [['key endpoint', [band('down', outage, x)]] as const]),
    [
      'trusted by this process',
      NAMES.flatMap((name) => told.trusted[name].map((span) => band(name, span, x))),
    ],
    ['requests for keys', told.requests.map((at) => MARKS.request(x(at)))],
    ...NAMES.map(
      (name) =>
        [
          `tokens of key ${name}`,
          told.tokens
            .filter(({ key }) => key === name)
            .map(({ verdict, at }) => MARKS[verdict](x(at))),
        ] as const,
    ),
    // Far too many to draw each.
    ...(forged === undefined ? [] : [['forged tokens', evenly(58, story, x)] as const]),
  ]
  return drawn(title, sentences(told), [{ title, from, until, ticks, lanes }], LEGEND)
}

function evenly(count: number, { from, until }: Story, x: (at: number) => number): string[] {
  return Array.from({ length: count }, (_, at) =>
    MARKS.refused(x(from + ((at + 0.5) * (until - from)) / count)),
  )
}

/** What is counted in the picture, for those who do not see it. */
function sentences({ requests, tokens }: Told): string {
  const counts = NAMES.flatMap((key) =>
    (['accepted', 'refused', 'unavailable'] as const).map((verdict) => {
      const { length } = tokens.filter((each) => each.key === key && each.verdict === verdict)
      return length === 0 ? [] : `${length} of key ${key} ${WORDS[verdict]}`
    }),
  )
  return `${requests.length} requests for keys. Of the tokens that are shown: ${counts.flat().join(', ')}.`
}

if (import.meta.main) for (const [name, text] of pictures()) writeFileSync(join(folder, name), text)
