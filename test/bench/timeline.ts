import type { Span, Story, Told } from './rotation-story.ts'
import type { Verdict } from './simulated-process.ts'

// A story as an SVG: what is there over time in bands, what happens in marks.

interface Texts {
  readonly title: string
  /** What is told to those who do not see the picture. */
  readonly description: string
  /** Where time is written below, and how. */
  readonly ticks: readonly (readonly [at: number, text: string])[]
}

export const WIDTH = 700
export const START = 178
export const END = 676
export const LANE = 34
const TOP = 66

// No script and no font of elsewhere: a page that shows the file as an image loads neither.
export const STYLE = `
    svg { background: #ffffff; font: 13px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif }
    text { fill: #1f2328 }
    .title { font-size: 16px; font-weight: 600 }
    .quiet { fill: #59636e; font-size: 12px }
    .rule { stroke: #d1d9e0 }
    .now { stroke: #59636e; stroke-dasharray: 3 3 }
    .A { fill: #0969da }
    .B { fill: #8250df }
    .down { fill: #818b98 }
    .band { fill: #ffffff; font-weight: 600; font-size: 12px }
    .request { stroke: #1f2328; stroke-width: 1.5 }
    .accepted { fill: #1a7f37 }
    .refused { stroke: #cf222e; stroke-width: 2; fill: none }
    .unavailable { fill: #bc4c00 }
    @media (prefers-color-scheme: dark) {
      svg { background: #0d1117 }
      text { fill: #f0f6fc }
      .quiet { fill: #9198a1 }
      .rule { stroke: #3d444d }
      .now { stroke: #9198a1 }
      .A { fill: #1f6feb }
      .B { fill: #8957e5 }
      .down { fill: #656c76 }
      .request { stroke: #f0f6fc }
      .accepted { fill: #3fb950 }
      .refused { stroke: #f85149 }
      .unavailable { fill: #db6d28 }
    }
  `

/** An SVG that is readable on light and dark pages, and where colours are not told apart. */
export function timeline(told: Told, { title, description, ticks }: Texts): string {
  const { story, requests, tokens, trusted } = told
  const x = (at: number) => START + ((at - story.from) / (story.until - story.from)) * (END - START)
  const names = ['A', 'B'] as const
  const lanes: readonly (readonly [name: string, marks: readonly string[]])[] = [
    ['signs and publishes', published(story).map((band) => drawBand(band, x))],
    ...(story.outage === undefined
      ? []
      : [['key endpoint', [drawBand({ name: 'down', ...story.outage }, x)]] as const]),
    [
      'trusted by this process',
      names.flatMap((name) => trusted[name].map((span) => drawBand({ name, ...span }, x))),
    ],
    ['requests for keys', requests.map((at) => drawRequest(x(at)))],
    ...names.map((name): [string, string[]] => [
      `tokens of key ${name}`,
      tokens
        .filter(({ key }) => key === name)
        .map(({ verdict, at }) => drawVerdict(verdict, x(at))),
    ]),
    ...(story.forged === undefined ? [] : [['forged tokens', drawFlood()] as const]),
  ]
  const bottom = TOP + lanes.length * LANE
  const height = bottom + 56
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title description">`,
    `  <title id="title">${title}</title>`,
    `  <desc id="description">${description}</desc>`,
    `  <style>${STYLE}</style>`,
    `  <text class="title" x="12" y="26">${title}</text>`,
    ...ticks.map(([at, text]) => drawTick(x(at), text, bottom)),
    ...lanes.map(([name, marks], index) => drawLane(name, marks, TOP + index * LANE)),
    drawLegend(bottom + 42),
    '</svg>',
  ].join('\n')}\n`
}

export interface Band extends Span {
  readonly name: keyof typeof WORDS
}

const WORDS = { A: 'key A', B: 'key B', down: 'does not answer' }

function published({ from, until, rotatesAt }: Story): readonly Band[] {
  return [
    { name: 'A', from, until: rotatesAt },
    { name: 'B', from: rotatesAt, until },
  ]
}

export function drawBand({ name, from, until }: Band, x: (at: number) => number): string {
  const [left, right] = [x(from), x(until)]
  const rect = `<rect class="${name}" x="${left.toFixed(1)}" y="-10" width="${(right - left).toFixed(1)}" height="20"/>`
  const text = `<text class="band" x="${(left + 7).toFixed(1)}" y="4">${WORDS[name]}</text>`
  return rect + text
}

function drawRequest(left: number): string {
  return `<path class="request" d="M${left.toFixed(1)} -9v18"/>`
}

/** A dot, a cross or a triangle. */
export function drawVerdict(verdict: Verdict, left: number): string {
  const place = left.toFixed(1)
  if (verdict === 'accepted') return `<circle class="accepted" cx="${place}" r="4"/>`
  if (verdict === 'refused') return `<path class="refused" d="M${place} 0m-4 -4l8 8m0 -8l-8 8"/>`
  return `<path class="unavailable" d="M${place} -5l5 9h-10z"/>`
}

/** Far too many to draw each. */
function drawFlood(): readonly string[] {
  const count = 58
  return Array.from({ length: count }, (_, index) =>
    drawVerdict('refused', START + 4 + (index * (END - START - 8)) / (count - 1)),
  )
}

export function drawLane(name: string, marks: readonly string[], y: number): string {
  return `  <g transform="translate(0 ${y})"><text x="${START - 12}" y="4" text-anchor="end">${name}</text><path class="rule" d="M${START} 0H${END}"/>${marks.join('')}</g>`
}

export function drawTick(x: number, text: string, bottom: number, top = TOP): string {
  return `  <path class="now" d="M${x.toFixed(1)} ${top - 16}V${bottom - 12}"/><text class="quiet" x="${x.toFixed(1)}" y="${bottom + 4}" text-anchor="middle">${text}</text>`
}

const LEGEND = [
  ['accepted', 'accepted (200)', START + 4],
  ['refused', 'refused (401)', START + 134],
  ['unavailable', 'nobody can tell (503)', START + 256],
] as const

function drawLegend(y: number): string {
  return LEGEND.map(([verdict, words, left]) => {
    const text = `<text class="quiet" x="${left + 11}" y="4">${words}</text>`
    return `  <g transform="translate(0 ${y})">${drawVerdict(verdict, left)}${text}</g>`
  }).join('\n')
}
