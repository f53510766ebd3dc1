// SVGs of what is there over time, in bands, and of what happens, in marks: readable on light and dark pages, and where colours
// are not told apart.

export interface Span {
  readonly from: number
  readonly until: number
}

/** From a time to its place. */
export type Scale = (at: number) => number

export interface Panel extends Span {
  readonly title: string
  /** Where time is written below, and how. */
  readonly ticks: readonly (readonly [at: number, text: string])[]
  readonly lanes: (x: Scale) => readonly (readonly [name: string, marks: readonly string[]])[]
}

const WIDTH = 700
const START = 178
const END = 676
const LANE = 34
const TOP = 52

// No script and no font of elsewhere: a page that shows the file as an image loads neither.
const STYLE = `
    svg { background: #ffffff; font: 13px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif }
    text { fill: #1f2328 } .title { font-size: 16px; font-weight: 600 } .quiet { fill: #59636e; font-size: 12px }
    .rule { stroke: #d1d9e0 } .now { stroke: #59636e; stroke-dasharray: 3 3 }
    .A { fill: #0969da } .B { fill: #8250df } .down { fill: #818b98 }
    .band { fill: #ffffff; font-weight: 600; font-size: 12px } .request { stroke: #1f2328; stroke-width: 1.5 }
    .accepted { fill: #1a7f37 } .refused { stroke: #cf222e; stroke-width: 2; fill: none } .unavailable { fill: #bc4c00 }
    @media (prefers-color-scheme: dark) {
      svg { background: #0d1117 } text { fill: #f0f6fc } .quiet { fill: #9198a1 } .rule { stroke: #3d444d } .now { stroke: #9198a1 }
      .A { fill: #1f6feb } .B { fill: #8957e5 } .down { fill: #656c76 } .request { stroke: #f0f6fc }
      .accepted { fill: #3fb950 } .refused { stroke: #f85149 } .unavailable { fill: #db6d28 }
    }
  `

/** @param legend Marks of these names are there, each with words and its distance from the first. */
export function drawn(
  title: string,
  description: string,
  panels: readonly Panel[],
  legend: readonly (readonly [name: keyof typeof MARKS, words: string, at: number])[],
): string {
  let y = 0
  const parts = panels.map((panel) => {
    const lanes = panel.lanes(
      (at) => START + ((at - panel.from) / (panel.until - panel.from)) * (END - START),
    )
    const part = drawPanel(panel, lanes, y)
    y += TOP + lanes.length * LANE + 30
    return part
  })
  const height = y + 46
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title description">`,
    `  <title id="title">${title}</title>`,
    `  <desc id="description">${description}</desc>`,
    `  <style>${STYLE}</style>`,
    ...parts,
    ...legend.map(([name, words, at]) => {
      const text = `<text class="quiet" x="${START + at + 15}" y="4">${words}</text>`
      return `  <g transform="translate(0 ${y + 26})">${MARKS[name](START + at + 4)}${text}</g>`
    }),
    '</svg>',
  ].join('\n')}\n`
}

function drawPanel(
  { title, from, until, ticks }: Panel,
  lanes: ReturnType<Panel['lanes']>,
  y: number,
): string {
  const bottom = TOP + lanes.length * LANE
  return [
    `  <g transform="translate(0 ${y})">`,
    `  <text class="title" x="12" y="26">${title}</text>`,
    ...ticks.map(([at, text]) => {
      const x = (START + ((at - from) / (until - from)) * (END - START)).toFixed(1)
      return `  <path class="now" d="M${x} ${TOP - 16}V${bottom - 12}"/><text class="quiet" x="${x}" y="${bottom + 4}" text-anchor="middle">${text}</text>`
    }),
    ...lanes.map(
      ([name, marks], index) =>
        `  <g transform="translate(0 ${TOP + index * LANE})"><text x="${START - 12}" y="4" text-anchor="end">${name}</text><path class="rule" d="M${START} 0H${END}"/>${marks.join('')}</g>`,
    ),
    '  </g>',
  ].join('\n')
}

const WORDS = { A: 'key A', B: 'key B', down: 'does not answer' }

export function band(name: keyof typeof WORDS, { from, until }: Span, x: Scale): string {
  const [left, right] = [x(from), x(until)]
  const rect = `<rect class="${name}" x="${left.toFixed(1)}" y="-10" width="${(right - left).toFixed(1)}" height="20"/>`
  return `${rect}<text class="band" x="${(left + 7).toFixed(1)}" y="4">${WORDS[name]}</text>`
}

/** A dot, a cross, a triangle and a line, at a place. */
export const MARKS = {
  accepted: (x: number) => `<circle class="accepted" cx="${x.toFixed(1)}" r="4"/>`,
  refused: (x: number) => `<path class="refused" d="M${x.toFixed(1)} 0m-4 -4l8 8m0 -8l-8 8"/>`,
  unavailable: (x: number) => `<path class="unavailable" d="M${x.toFixed(1)} -5l5 9h-10z"/>`,
  request: (x: number) => `<path class="request" d="M${x.toFixed(1)} -9v18"/>`,
}
