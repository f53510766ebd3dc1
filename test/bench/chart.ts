/** Bars of one unit, in groups, from zero. */
export interface Chart {
  readonly title: string
  readonly subtitle: string
  readonly groups: readonly Group[]
  /** Digits after the point. @default 2 */
  readonly digits?: number
}

interface Group {
  readonly name: string
  readonly bars: readonly Bar[]
}

interface Bar {
  readonly name: string
  readonly value: number
  readonly isOurs: boolean
}

const WIDTH = 860
const BAR_START = 300
/** Room for the longest bar; beyond it its number stands. */
const BAR_LENGTH = 480
const LINE = 22
const BAR_HEIGHT = 14
const TOP = 78
const GROUP_GAP = 34

// No script and no font of elsewhere: a page that shows the file as an image loads neither.
const STYLE = `
    svg { background: #ffffff; font: 13px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif }
    text { fill: #1f2328 }
    .title { font-size: 17px; font-weight: 600 }
    .quiet { fill: #59636e; font-size: 12px }
    .group { font-weight: 600 }
    .ours text { font-weight: 600 }
    .bar { fill: #a8b1bb }
    .ours .bar { fill: #0969da }
    .axis { stroke: #d1d9e0 }
    @media (prefers-color-scheme: dark) {
      svg { background: #0d1117 }
      text { fill: #f0f6fc }
      .quiet { fill: #9198a1 }
      .bar { fill: #565e68 }
      .ours .bar { fill: #4493f8 }
      .axis { stroke: #3d444d }
    }
  `

/** An SVG that is readable on light and dark pages. Values are beside their bars, and the whole is told to screen readers. */
export function barChart({ title, subtitle, groups, digits = 2 }: Chart): string {
  const longest = Math.max(...groups.flatMap(({ bars }) => bars.map(({ value }) => value)))
  const drawn: string[] = []
  let y = TOP
  for (const { name, bars } of groups) {
    drawn.push(text(16, y, name, 'group'))
    const axisTop = y + 8
    y += LINE
    for (const bar of bars) {
      drawn.push(drawBar(bar, y, (bar.value / longest) * BAR_LENGTH, digits))
      y += LINE
    }
    drawn.push(
      `<line class="axis" x1="${BAR_START}" x2="${BAR_START}" y1="${axisTop}" y2="${y - 12}"/>`,
    )
    y += GROUP_GAP - LINE / 2
  }
  const height = y - GROUP_GAP + LINE
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title">`,
    `  <title id="title">${escaped(title)}</title>`,
    `  <style>${STYLE}</style>`,
    ...[text(16, 26, title, 'title'), text(16, 44, subtitle, 'quiet'), ...drawn].map(
      (line) => `  ${line}`,
    ),
    '</svg>',
  ].join('\n')}\n`
}

function drawBar({ name, value, isOurs }: Bar, y: number, length: number, digits: number): string {
  return [
    `<g${isOurs ? ' class="ours"' : ''}>`,
    text(BAR_START - 10, y, name, 'name', 'end'),
    `<rect class="bar" x="${BAR_START}" y="${y - 11}" width="${Math.max(length, 1).toFixed(1)}" height="${BAR_HEIGHT}" rx="2"/>`,
    text(BAR_START + Math.max(length, 1) + 6, y, value.toFixed(digits), 'value'),
    '</g>',
  ].join('')
}

function text(x: number, y: number, content: string, kind: string, anchor = 'start'): string {
  const end = anchor === 'start' ? '' : ` text-anchor="${anchor}"`
  return `<text class="${kind}" x="${x.toFixed(1)}" y="${y}"${end}>${escaped(content)}</text>`
}

function escaped(content: string): string {
  return content
    .replaceAll('`', '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}
