// The search: it loads the words of all pages when it is opened first, and finds them in the browser. Nothing is sent anywhere.

import { createFinder } from './finder.js'

const root = new URL(`${document.documentElement.dataset['root'] ?? '.'}/`, location.href)

/** @type {HTMLDialogElement | undefined} */
let dialog

export async function openSearch() {
  dialog ??= await createDialog()
  dialog.showModal()
  dialog.querySelector('input')?.select()
}

async function createDialog() {
  const box = document.createElement('dialog')
  box.className = 'search'
  box.setAttribute('aria-label', 'Search')
  const input = document.createElement('input')
  input.type = 'search'
  input.placeholder = 'Words, an error code, or a message of a log'
  input.setAttribute('aria-label', 'Search for')
  input.setAttribute('aria-controls', 'results')
  input.autocomplete = 'off'
  const status = document.createElement('p')
  status.setAttribute('role', 'status')
  const list = document.createElement('ol')
  list.id = 'results'
  const close = document.createElement('button')
  close.type = 'button'
  close.textContent = 'Close'
  close.addEventListener('click', () => box.close())
  const row = document.createElement('div')
  row.append(input, close)
  box.append(row, status, list)
  document.body.append(box)
  const response = await fetch(new URL('search.json', root))
  const find = createFinder(/** @type {import('./finder.js').Index} */ (await response.json()))
  input.addEventListener('input', () => {
    const found = input.value.trim() === '' ? [] : find(input.value)
    list.replaceChildren(...found.map(item))
    status.textContent = said(input.value, found.length)
  })
  box.addEventListener('keydown', (event) => move(event, input, list))
  box.addEventListener('click', (event) => {
    // What is behind it.
    if (event.target === box) box.close()
  })
  return box
}

/**
 * @param {string} asked
 * @param {number} count
 */
function said(asked, count) {
  if (asked.trim() === '') return ''
  return count === 0 ? 'Nothing found. Try fewer words.' : `${count} found`
}

/** @param {import('./finder.js').Found} found */
function item({ address, title, where, heading, text, terms }) {
  const link = document.createElement('a')
  link.href = new URL(address, root).href
  const name = document.createElement('strong')
  name.textContent = heading === '' ? title : `${title} › ${heading}`
  const kind = document.createElement('small')
  kind.textContent = where
  const words = document.createElement('span')
  words.append(...marked(excerpt(text, terms), terms))
  link.append(name, kind, words)
  const row = document.createElement('li')
  row.append(link)
  return row
}

/**
 * @param {string} text
 * @param {string[]} terms
 */
function excerpt(text, terms) {
  const lower = text.toLowerCase()
  const places = terms.map((term) => lower.indexOf(term)).filter((place) => place >= 0)
  const start = Math.max(0, Math.min(...places, text.length) - 60)
  const from = start === 0 || places.length === 0 ? 0 : text.indexOf(' ', start) + 1
  return `${from > 0 ? '… ' : ''}${text.slice(from, from + 180)}${text.length > from + 180 ? ' …' : ''}`
}

/**
 * @param {string} text
 * @param {string[]} terms
 */
function marked(text, terms) {
  const words = text.split(/([\p{L}\p{N}]+)/u)
  return words.map((word) => {
    if (!terms.includes(word.toLowerCase())) return word
    const mark = document.createElement('mark')
    mark.textContent = word
    return mark
  })
}

/**
 * The arrows go from one result to the next.
 *
 * @param {KeyboardEvent} event
 * @param {HTMLInputElement} input
 * @param {HTMLOListElement} list
 */
function move(event, input, list) {
  const links = [...list.querySelectorAll('a')]
  const at = links.findIndex((link) => link === document.activeElement)
  if (event.key === 'Enter' && document.activeElement === input) {
    links[0]?.click()
    event.preventDefault()
    return
  }
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  event.preventDefault()
  const next = event.key === 'ArrowDown' ? at + 1 : at - 1
  if (next < 0) input.focus()
  else links[next]?.focus()
}
