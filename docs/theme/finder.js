// What the search finds. A message is pasted here as a program has printed it, so it has words that its page does not have.

import MiniSearch from './minisearch.js'

/** @typedef {{ id: number, address: string, title: string, where: string, heading: string, text: string }} Entry */
/** @typedef {Entry & { terms: string[] }} Found */
/** @typedef {{ pages: [string, string, string][], parts: [number, string, string, string][] }} Index */

/**
 * @param {Index} index As `search.json` has it.
 * @returns {(asked: string) => Found[]}
 */
export function createFinder({ pages, parts }) {
  /** @type {Entry[]} */
  const entries = parts.map(([page, anchor, heading, text], id) => {
    const [address, title, where] = pages[page] ?? ['index', '', '']
    const place = anchor === '' ? '' : `#${anchor}`
    return { id, address: `${address}.html${place}`, title, where, heading, text }
  })
  const messages = entries
    .filter(({ address }) => address.startsWith('errors/messages/'))
    .map(({ id, title }) => ({ id, fits: fitsOf(title) }))
  const index = new MiniSearch({ fields: ['title', 'heading', 'text'] })
  index.addAll(entries)
  return (asked) => {
    const fitting = new Map(
      messages.flatMap(({ id, fits }) => {
        const longest = fits.find(({ pattern }) => pattern.test(asked))
        return longest === undefined ? [] : [[id, longest.letters]]
      }),
    )
    const phrase = asked.trim().toLowerCase()
    const results = index.search(withOtherNames(asked), {
      processTerm: (term) => (COMMON.has(term.toLowerCase()) ? null : term.toLowerCase()),
      boost: { title: 4, heading: 2 },
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 5 ? 0.15 : false),
      boostDocument: (/** @type {number} */ id) => boostOf(entries[id], phrase, fitting),
    })
    return results.slice(0, 12).flatMap(({ id, terms }) => {
      const entry = entries[Number(id)]
      return entry === undefined ? [] : [{ ...entry, terms }]
    })
  }
}

/**
 * A page of what was asked comes before one that mentions it, and first of all the page whose message was asked. For all else
 * what explains comes first.
 *
 * @param {Entry | undefined} entry
 * @param {string} phrase All that was asked.
 * @param {ReadonlyMap<number, number>} fitting The pages of messages that were asked, with the letters of each.
 */
function boostOf(entry, phrase, fitting) {
  if (entry === undefined) return 1
  const letters = fitting.get(entry.id)
  // One without letters has few words, and they are everywhere.
  if (letters !== undefined) return letters === 0 ? 25 : 5 + letters / 2
  const { address, title, heading, text } = entry
  if (heading === '' && title.toLowerCase().replace('()', '') === phrase) return 4
  if (!address.startsWith('errors/')) return BEHIND.test(address) ? 0.5 : 1
  // What was copied has several words, and a question for a guide has few.
  const isCopied = phrase.split(/\s+/).length > 3
  if (isCopied && text.toLowerCase().includes(phrase)) return 5
  if (address.startsWith('errors/messages/')) return 0.4
  // A code, a reason or a status is one word.
  return phrase.includes(' ') ? 0.7 : 1.4
}

/** What explains comes before what only has the words. */
const BEHIND = /^(?:contribute|reference|start\/(?:examples|upgrading))\b/

/** Words that stand everywhere, and say nothing about what is asked. */
const COMMON = new Set(
  'a an and are at be can do does for from get how i in is it my not of on or the to what when where which why with'.split(
    ' ',
  ),
)

/** Names of others for what these pages call otherwise. */
const OTHER_NAMES = /** @type {const} */ ([
  [/\b(?:log|sign)(?:ged|ging)?[ -]?(?:out|off)\b/i, 'revoking'],
  [/\brefresh tokens?\b/i, 'revoking'],
  [/\bjwks\b/i, 'keys'],
  [/\b(?:get(?:ting)? started|tutorial)\b/i, 'start overview'],
  [/\b(?:several|multiple|all) processes\b/i, 'redis'],
  [/\brollback\b/i, 'roll back rotation'],
  [/\b(?:leaked|compromised)\b/i, 'stolen'],
  [/\b(?:incident|emergency|outage)s?\b/i, 'runbook'],
])

/** @param {string} asked */
function withOtherNames(asked) {
  const others = OTHER_NAMES.flatMap(([pattern, name]) => (pattern.test(asked) ? [name] : []))
  return [asked, ...others].join(' ')
}

/**
 * What fits a message, the longest first: all of it, or where it was cut off, if three words of it are left.
 *
 * @param {string} title
 */
function fitsOf(title) {
  const words = title.split(' ')
  const beginnings = words.map((_, at) =>
    words
      .slice(0, at + 1)
      .join(' ')
      .replace(/[,;:]$/, ''),
  )
  return [
    { pattern: new RegExp(sourceOf(title), 'i'), letters: lettersOf(title) },
    ...beginnings
      .slice(2, -1)
      .toReversed()
      .map((beginning) => ({
        pattern: new RegExp(`${sourceOf(beginning)}[,;:]?\\s*$`, 'i'),
        letters: lettersOf(beginning),
      })),
  ]
}

/**
 * In the title of a message `…` stands for text that differs; one before a colon is a name.
 *
 * @param {string} title
 */
function sourceOf(title) {
  const parts = title.split('…').map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  const [first = '', second = ''] = parts
  const isNamed = first === '' && second.startsWith(': ')
  return isNamed ? `[\\w.@]+${parts.slice(1).join('.+')}` : parts.join('.+')
}

/** @param {string} title */
function lettersOf(title) {
  return title.replaceAll(/[^a-z]/gi, '').length
}
