import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { type Story, tell, type Told } from './rotation-story.ts'
import { timeline } from './timeline.ts'

// The pictures of KEYS.md in core, drawn from what the policy decides: `node test/draw.ts rotation`. A test compares them.

const MINUTE = 60
const WORDS = { accepted: 'accepted', refused: 'refused', unavailable: 'answered with 503' }

const SECONDS = [-20, 0, 20, 40, 60].map((at) => [at, at === 0 ? 'rotation' : `${at} s`] as const)

const MINUTES = [
  [0, 'outage'],
  [30 * MINUTE, '30 min: rotation'],
  [60 * MINUTE, '60 min'],
  [80 * MINUTE, '80 min: it is back'],
] as const

export const folder: string = fileURLToPath(
  new URL('../../packages/core/pictures/', import.meta.url),
)

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

/** The text of each file. */
export function pictures(): ReadonlyMap<string, string> {
  return new Map([
    [
      'rotation.svg',
      drawn(
        ROTATION,
        'A rotation: the first token of the new key fetches it, and is accepted',
        SECONDS,
      ),
    ],
    ['flood.svg', drawn(FLOOD, 'The same in a flood of forged tokens, 200 in a second', SECONDS)],
    ['outage.svg', drawn(OUTAGE, 'An outage of 80 minutes, with a rotation in it', MINUTES)],
  ])
}

function drawn(
  story: Story,
  title: string,
  ticks: readonly (readonly [at: number, text: string])[],
): string {
  const told = tell(story)
  return timeline(told, { title, description: sentences(told), ticks })
}

/** What is counted in the picture, for those who do not see it. */
function sentences({ requests, tokens }: Told): string {
  const counts = (['A', 'B'] as const).flatMap((key) =>
    (['accepted', 'refused', 'unavailable'] as const).map((verdict) => {
      const count = tokens.filter((each) => each.key === key && each.verdict === verdict).length
      return { text: `${count} of key ${key} ${WORDS[verdict]}`, count }
    }),
  )
  const seen = counts.filter(({ count }) => count > 0).map(({ text }) => text)
  return `${requests.length} requests for keys. Of the tokens that are shown: ${seen.join(', ')}.`
}

if (import.meta.main) {
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of pictures()) writeFileSync(join(folder, name), text)
}
