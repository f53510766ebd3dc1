import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { systemClock } from '@portcullis/kit/time'

import type { Style, StyledLine } from '../../../packages/cli/src/surroundings/terminal.ts'
import { linesOf } from '../../../packages/cli/src/try/lines.ts'
import { play, type Playing } from '../../../packages/cli/src/try/play.ts'
import { type Story, storyOf } from '../../../packages/cli/src/try/story.ts'

// The end of a run of `portcullis try` as a picture, drawn by a run of a minute: `node test/draw.ts try`.

const CHARACTER = 8.43
const LINE = 20
const MARGIN = 22

// No script and no font of elsewhere: a page that shows the file as an image loads neither.
const STYLE = `
    rect { fill: #f6f8fa; stroke: #d1d9e0 }
    text { fill: #1f2328; font: 14px ui-monospace, 'SF Mono', 'Cascadia Mono', 'DejaVu Sans Mono', Menlo, monospace; white-space: pre }
    .bold { font-weight: 600 }
    .red { fill: #c4232b }
    .green { fill: #1a7f37 }
    @media (prefers-color-scheme: dark) {
      rect { fill: #151b23; stroke: #3d444d }
      text { fill: #f0f6fc }
      .red { fill: #ff8178 }
      .green { fill: #3fb950 }
    }
  `

export const file: string = fileURLToPath(
  new URL('../../../packages/cli/docs/try.svg', import.meta.url),
)

/** An SVG of the lines, readable on light and dark pages. The title tells what the lines show to those who do not see them. */
export function pictureOf(lines: readonly StyledLine[], title: string): string {
  const longest = Math.max(...lines.map((line) => textOf(line).length))
  const width = Math.ceil(longest * CHARACTER + 2 * MARGIN)
  const height = lines.length * LINE + 2 * MARGIN
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">`,
    `  <title id="title">${escaped(title)}</title>`,
    `  <style>${STYLE}</style>`,
    `  <rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    ...lines.flatMap((line, at) =>
      textOf(line).trim() === '' ? [] : [drawn(line, MARGIN + at * LINE + 14)],
    ),
    '</svg>',
  ].join('\n')}\n`
}

/** What the picture is called, from what was counted. */
export function titleOf(story: Story, { tally }: Playing): string {
  const [ours, theirs] = [tally.of('portcullis'), tally.of('jose')]
  const all = ours.accepted + ours.refused
  return `portcullis try, ${story.seconds} seconds with a rotation and a flood of forged tokens: of ${all} genuine tokens Portcullis accepted ${ours.accepted}, and jose ${theirs.accepted}`
}

/** Each piece has its place and its length, so that columns stand below each other in any font. */
function drawn(line: StyledLine, y: number): string {
  let column = 0
  const pieces = line.map(([style, text]) => {
    const start = column
    column += text.length
    return piece(style, text, start, y)
  })
  return `  ${pieces.join('')}`
}

function piece(style: Style, text: string, start: number, y: number): string {
  const trimmed = text.trimStart()
  if (trimmed === '') return ''
  const x = MARGIN + (start + text.length - trimmed.length) * CHARACTER
  const length = trimmed.trimEnd().length * CHARACTER
  const kind = style === 'plain' ? '' : ` class="${style}"`
  return `<text${kind} x="${x.toFixed(1)}" y="${y}" textLength="${length.toFixed(1)}">${escaped(trimmed.trimEnd())}</text>`
}

function textOf(line: StyledLine): string {
  return line.map(([, text]) => text).join('')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

if (import.meta.main) {
  const story = storyOf(60, 'same')
  const context = {
    clock: systemClock,
    fetch: globalThis.fetch,
    signal: new AbortController().signal,
  }
  const playing = await play(story, context, () => undefined)
  writeFileSync(file, pictureOf(linesOf(story, playing), titleOf(story, playing)))
  console.log(file)
}
