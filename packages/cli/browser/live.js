// What changes by itself: the page is asked for again soon after each event.

import { find, load } from './ask.js'

/** As `MAX_ROWS` of log-panel.ts. */
const MAX_ROWS = 200
/** Milliseconds: how soon after an event the page is new, and how often it is without one, since time goes on. */
const SOON = 200
const PERIOD = 3000

const log = find('#log', HTMLOListElement)
const connection = find('#connection', HTMLElement)
const pause = find('#pause', HTMLButtonElement)

let lastId = Number(log.firstElementChild?.getAttribute('data-id') ?? 0)
let isWanted = false
let isRefreshing = false

/** At most one at a time, and soon after what asked for it: a flood of events is a few requests. */
export function refreshSoon() {
  isWanted = true
  if (isRefreshing) return
  isRefreshing = true
  setTimeout(() => {
    isWanted = false
    refresh()
      .catch(() => {
        showConnection(false)
      })
      .finally(() => {
        isRefreshing = false
        if (isWanted) refreshSoon()
      })
  }, SOON)
}

async function refresh() {
  const span = find('input[name="span"]:checked', HTMLInputElement).value
  const fresh = await load(`/console/live?span=${span}&after=${lastId}`)
  for (const part of fresh.querySelectorAll('[data-live]')) {
    const old = document.getElementById(part.id)
    // An open list of choices closes if it is replaced.
    if (old === null || old.innerHTML === part.innerHTML) continue
    const chosen = old.querySelector('select')?.value
    old.replaceChildren(...document.importNode(part, true).childNodes)
    const choice = old.querySelector('select')
    if (choice !== null && chosen !== undefined) choice.value = chosen
    if (choice !== null && choice.selectedIndex < 0) choice.selectedIndex = 0
  }
  if (pause.getAttribute('aria-pressed') !== 'true')
    addRows([...fresh.querySelectorAll('#log > li')])
}

/** @param {readonly Element[]} rows The newest first. */
function addRows(rows) {
  const [newest] = rows
  if (newest === undefined) return
  const id = Number(newest.getAttribute('data-id'))
  // Another process counts again from 1.
  if (id <= lastId) log.replaceChildren()
  lastId = id
  log.prepend(...rows.map((row) => document.importNode(row, true)))
  while (log.childElementCount > MAX_ROWS) log.lastElementChild?.remove()
  const line = newest.querySelector('summary')?.textContent?.replaceAll(/\s+/g, ' ').trim()
  find('#log-status', HTMLElement).textContent = `Newest: ${line}`
}

/** @param {boolean} isOpen */
function showConnection(isOpen) {
  const text = isOpen ? 'Live' : 'Not connected: is portcullis serve still running?'
  if (connection.textContent !== text) connection.textContent = text
  connection.classList.toggle('lost', !isOpen)
}

const stream = new EventSource(`/control/stream?after=${lastId}`)
stream.addEventListener('message', refreshSoon)
stream.addEventListener('open', () => {
  showConnection(true)
  refreshSoon()
})
stream.addEventListener('error', () => {
  showConnection(false)
})
setInterval(() => {
  if (!document.hidden) refreshSoon()
}, PERIOD)
document.addEventListener('visibilitychange', refreshSoon)
find('#span', HTMLElement).addEventListener('change', refreshSoon)
pause.addEventListener('click', () => {
  const isPaused = pause.getAttribute('aria-pressed') === 'true'
  pause.setAttribute('aria-pressed', String(!isPaused))
  refreshSoon()
})
