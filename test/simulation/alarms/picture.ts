import { readFileSync, writeFileSync } from 'node:fs'

import { alarmsOf, ALERTS } from './prometheus.ts'
import { type Fired, tellAlarms, type Told } from './story.ts'

// The picture of OPERATING.md in core: which alarms have fired when, in a run with a real Prometheus. `node test/draw.ts alarms` makes it.

const WIDTH = 700
const START = 230
const END = 676
const LANE = 30
const TOP = 64
const MINUTE = 60
const HOUR = 3600
/** How much of the calm stretch is drawn. */
const BEFORE = 5 * MINUTE

// No script and no font of elsewhere: a page that shows the file as an image loads neither.
const STYLE = `
    svg { background: #ffffff; font: 13px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif }
    text { fill: #1f2328 }
    .title { font-size: 16px; font-weight: 600 }
    .quiet { fill: #59636e; font-size: 12px }
    .rule { stroke: #d1d9e0 }
    .fault { fill: #818b98 }
    .alarm { fill: #cf222e }
    @media (prefers-color-scheme: dark) {
      svg { background: #0d1117 }
      text { fill: #f0f6fc }
      .quiet { fill: #9198a1 }
      .rule { stroke: #3d444d }
      .fault { fill: #656c76 }
      .alarm { fill: #f85149 }
    }
  `

export function picture({ fired, repairedAt, calmFor }: Told): string {
  const last = Math.max(repairedAt, ...fired.map(({ until }) => until))
  const x = (at: number) => (START + ((at + BEFORE) / (last + BEFORE)) * (END - START)).toFixed(1)
  const flood = fired.find(({ alarm }) => alarm === 'PortcullisFlood')?.from ?? 0
  const lanes = [
    { name: 'issuer and Redis hang', kind: 'fault', from: 0, until: repairedAt },
    { name: 'a flood of forged tokens', kind: 'fault', from: 0, until: flood },
    ...fired.map(({ alarm, from, until }) => ({ name: alarm, kind: 'alarm', from, until })),
  ]
  const height = TOP + lanes.length * LANE + 34
  const bars = lanes.map(({ name, kind, from, until }, at) => {
    const y = TOP + at * LANE
    const width = (Number(x(until)) - Number(x(from))).toFixed(1)
    return `  <text x="${START - 12}" y="${y + 4}" text-anchor="end">${name}</text><path class="rule" d="M${START} ${y}H${END}"/><rect class="${kind}" x="${x(from)}" y="${y - 9}" width="${width}" height="18"/>`
  })
  const ticks = [-5, 0, 5, 10, 15, 20, 25].filter((minute) => minute * MINUTE <= last)
  const times = ticks.map((minute) => {
    const text = minute === 0 ? 'faults begin' : `${minute} min`
    return `  <text class="quiet" x="${x(minute * MINUTE)}" y="${height - 16}" text-anchor="middle">${text}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title description">
  <title id="title">Alarms of a cluster of two workers</title>
  <desc id="description">${sentences(fired, calmFor)}</desc>
  <style>${STYLE}</style>
  <text class="title" x="12" y="26">Alarms of a cluster of two workers, after a calm hour</text>
${[...bars, ...times].join('\n')}
</svg>
`
}

/** For those who do not see it. */
function sentences(fired: readonly Fired[], calmFor: number): string {
  const each = fired.map(
    ({ alarm, from, until }) => `${alarm} from ${inMinutes(from)} to ${inMinutes(until)}`,
  )
  return `In the ${calmFor / MINUTE} minutes before the faults no alarm fires. After they begin: ${each.join('; ')}.`
}

const inMinutes = (seconds: number) => `${(seconds / MINUTE).toFixed(1)} min`

if (import.meta.main) {
  const file = new URL('../../../packages/core/pictures/alarms.svg', import.meta.url)
  const told = await tellAlarms(HOUR, alarmsOf(readFileSync(ALERTS, 'utf8')))
  if (told.calm.length > 0) throw new Error(`in a calm hour there fired ${told.calm.join(', ')}`)
  writeFileSync(file, picture(told))
}
