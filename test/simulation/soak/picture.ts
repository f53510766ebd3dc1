import { TRACKS } from './schedule.ts'
import type { SoakResult } from './soak.ts'

// Draws a run: what was disturbed when, and what the processes held meanwhile.

const WIDTH = 860
const LEFT = 120
const RIGHT = 20
const TOP = 84
const STRIP = 20
const HEAP_HEIGHT = 150

const STYLE = `
    svg { background: #ffffff; font: 13px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif }
    text { fill: #1f2328 }
    .title { font-size: 17px; font-weight: 600 }
    .quiet { fill: #59636e; font-size: 12px }
    .strip { fill: #bc4c00 }
    .line { fill: none; stroke: #0969da; stroke-width: 1.5 }
    .axis { stroke: #d1d9e0 }
    @media (prefers-color-scheme: dark) {
      svg { background: #0d1117 }
      text { fill: #f0f6fc }
      .quiet { fill: #9198a1 }
      .strip { fill: #db6d28 }
      .line { stroke: #4493f8 }
      .axis { stroke: #3d444d }
    }
  `

/** An SVG that is readable on light and dark pages. */
export function picture({ seconds, schedule, tally, version, isSound }: SoakResult): string {
  const x = (at: number) => (LEFT + (at / seconds) * (WIDTH - LEFT - RIGHT)).toFixed(1)
  const tracks = Object.keys(TRACKS)
  const strips = tracks.flatMap((track, at) => {
    const y = TOP + at * STRIP
    const bars = schedule
      .filter((each) => each.track === track)
      .map(({ begins, ends }) => {
        const width = Math.max(1, Number(x(ends)) - Number(x(begins))).toFixed(1)
        return `<rect class="strip" x="${x(begins)}" y="${y}" width="${width}" height="12"/>`
      })
    return [text(16, y + 11, track), ...bars]
  })

  const bottom = TOP + tracks.length * STRIP + 30 + HEAP_HEIGHT
  const heaps = [...tally.samples.values()]
  const most = Math.max(...heaps.flatMap((samples) => samples.map(({ heap }) => heap)))
  const lines = heaps.map((samples) => {
    const points = samples.map(
      ({ at, heap }) => `${x(at)},${(bottom - (heap / most) * HEAP_HEIGHT).toFixed(1)}`,
    )
    return `<polyline class="line" points="${points.join(' ')}"/>`
  })
  const axis = `<line class="axis" x1="${LEFT}" y1="${bottom}" x2="${WIDTH - RIGHT}" y2="${bottom}"/>`
  const mebibytes = (most / 2 ** 20).toFixed(0)
  const title = `${seconds / 60} minutes of faults, ${version}: ${isSound ? 'no wrong verdict' : 'something is wrong'}`
  const subtitle =
    'What was disturbed, and what each process that stayed had in its heap after a collection'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${bottom + 40}" role="img" aria-label="${title}. ${subtitle}: the lines stay level.">
  <style>${STYLE}</style>
  ${text(16, 30, title, 'title')}
  ${text(16, 52, subtitle, 'quiet')}
  ${[...strips, axis, ...lines].join('\n  ')}
  ${text(16, bottom - HEAP_HEIGHT + 10, `${mebibytes} MiB`, 'quiet')}
  ${text(16, bottom, '0', 'quiet')}
  ${text(LEFT, bottom + 22, 'start', 'quiet')}
  ${text(WIDTH - RIGHT - 60, bottom + 22, `${seconds / 60} min`, 'quiet')}
</svg>
`
}

function text(x: number, y: number, content: string, style = ''): string {
  return `<text x="${x}" y="${y}"${style === '' ? '' : ` class="${style}"`}>${content}</text>`
}
