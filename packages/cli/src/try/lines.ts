import type { Style, StyledLine } from '../surroundings/terminal.ts'
import type { Playing } from './play.ts'
import { FORGED, type NewKid, type Story } from './story.ts'
import { type Answers, type Guard, GUARDS, type Moment } from './tally.ts'

// What `try` shows while it runs: lines of pieces, each in a style, for a terminal and for the picture.

const LABEL = 36
const COLUMN = 12
const NAMES: Readonly<Record<Guard, string>> = { portcullis: 'Portcullis', jose: 'jose' }

const KIDS: Readonly<Record<NewKid, string>> = {
  same: 'under the kid of the old one',
  new: 'with a kid of its own',
  none: 'without a kid',
}

/** What happens, and when it begins. Seconds since the start. */
export function eventsOf(story: Story): readonly (readonly [at: number, text: string])[] {
  return [
    [0, 'genuine tokens, four in a second'],
    [story.rotatesAt, `the service signs with a new key, ${KIDS[story.kid]}`],
    [story.floodFrom, `${FORGED} forged tokens a second as well: genuine, but for the signature`],
  ]
}

/** Everything at one moment. Each line fits in 72 columns. */
export function linesOf(story: Story, playing: Playing): readonly StyledLine[] {
  const elapsed = playing.elapsed()
  const isOver = elapsed >= story.seconds
  const answers = GUARDS.map((guard) => playing.tally.of(guard))
  const current = eventsOf(story).findLastIndex(([at]) => at <= elapsed)
  return [
    ...INTRODUCTION.map((text): StyledLine => [['plain', text]]),
    [],
    ...eventsOf(story).map(([at, text], number): StyledLine => {
      const mark = number === current ? '>' : ' '
      return [[number === current ? 'bold' : 'plain', `${mark} ${second(at)}  ${text}`]]
    }),
    [],
    [['bold', ' '.repeat(LABEL) + GUARDS.map((guard) => NAMES[guard].padStart(COLUMN)).join('')]],
    ...ROWS.map(([label, read]) => counted(label, answers.map(read))),
    [],
    ...GUARDS.map((guard, number) => courseOf(NAMES[guard], answers[number]?.course ?? [])),
    [['plain', `${' '.repeat(COLUMN)}+ all genuine tokens accepted   x one refused`]],
    [],
    [
      [
        'plain',
        `${second(elapsed)} of ${Math.round(story.seconds)} s${isOver ? '' : '; Ctrl-C ends it'}`,
      ],
    ],
  ]
}

const INTRODUCTION = [
  'A token service and an API run on this machine. The API has two guards:',
  'one of Portcullis, and one of jose (createRemoteJWKSet). Each call goes to',
  'both. Their options are the defaults.',
]

type Cell = readonly [text: number | string, style?: Style]

const ROWS: readonly (readonly [label: string, read: (answers: Answers) => Cell])[] = [
  ['genuine tokens accepted', ({ accepted }) => [accepted]],
  ['genuine tokens refused', ({ refused }) => [refused, refused > 0 ? 'red' : 'plain']],
  [
    'first token of the new key',
    ({ firstOfNewKey: first }) =>
      first === undefined ? ['-'] : [first.status, first.status === 200 ? 'green' : 'red'],
  ],
  ['forged tokens refused', ({ forgedRefused }) => [forgedRefused]],
  [
    'forged tokens accepted',
    ({ forgedAccepted }) => [forgedAccepted, forgedAccepted > 0 ? 'red' : 'plain'],
  ],
  ['requests for keys', ({ keyRequests }) => [keyRequests]],
]

function counted(label: string, cells: readonly Cell[]): StyledLine {
  const pieces = cells.map(
    ([text, style = 'plain']) => [style, String(text).padStart(COLUMN)] as const,
  )
  return [['plain', label.padEnd(LABEL)], ...pieces]
}

function courseOf(name: string, course: readonly Moment[]): StyledLine {
  return [['plain', name.padEnd(COLUMN)], ...strip(course)]
}

function second(at: number): string {
  return `${Math.round(at)} s`.padStart(5)
}

const SIGNS: Readonly<Record<Moment, readonly [style: Style, text: string]>> = {
  none: ['plain', ' '],
  accepted: ['green', '+'],
  refused: ['red', 'x'],
}

/** Neighbours of one kind are one piece. */
function strip(course: readonly Moment[]): StyledLine {
  const pieces: [Style, string][] = []
  for (const moment of course) {
    const [style, sign] = SIGNS[moment]
    const last = pieces.at(-1)
    if (last?.[0] === style) last[1] += sign
    else pieces.push([style, sign])
  }
  return pieces
}

export function conclusion(story: Story, { tally, rotatedAt, floodedAt }: Playing) {
  const [ours, theirs] = [tally.of('portcullis'), tally.of('jose')]
  return [
    `${genuine('Portcullis', ours)} ${genuine('jose', theirs)}`,
    ...(rotatedAt() === undefined ? [] : [firstToken(ours, theirs)]),
    'With its defaults, jose asks for keys again when it sees a kid that it does not know, at most every 30 seconds, and else after 10 minutes.',
    `${count(ours.forgedRefused + ours.forgedAccepted, 'forged token')} in ${Math.round(Math.max(1, story.seconds - (floodedAt() ?? story.floodFrom)))} s made Portcullis ask for keys ${times(ours.keyRequestsInFlood)}, and jose ${times(theirs.keyRequestsInFlood)}. ${forged(ours, theirs)}`,
  ]
}

function genuine(name: string, { accepted, refused }: Answers): string {
  if (refused === 0) return `${name} accepted all ${count(accepted, 'genuine token')}.`
  return `${name} refused ${refused} of ${count(accepted + refused, 'genuine token')}.`
}

function firstToken({ firstOfNewKey: ours }: Answers, { firstOfNewKey: theirs }: Answers): string {
  const answers = [ours, theirs].map((first) =>
    first === undefined
      ? 'nothing'
      : `${first.status} after ${Math.round(first.seconds * 1000)} ms`,
  )
  return `The first token of the new key got ${answers[0]} from Portcullis, which fetches the key while the request waits, and ${answers[1]} from jose.`
}

function forged({ forgedAccepted: ours }: Answers, { forgedAccepted: theirs }: Answers): string {
  if (ours + theirs === 0) return 'None was accepted.'
  return `Portcullis accepted ${ours} of them, jose ${theirs}.`
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

export function times(number: number): string {
  return number === 1 ? 'once' : `${number} times`
}
