// What changes by itself: the page is asked for again soon after each event.

import { find, load } from './ask.js'

/** Milliseconds: how soon after an event the page is new, and how often it is without one, since time goes on. */
const SOON = 200
const PERIOD = 3000

const connection = find('#connection', HTMLElement)

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
  const fresh = await load('/console/live')
  for (const part of fresh.querySelectorAll('[data-live]')) {
    const old = document.getElementById(part.id)
    if (old === null || old.innerHTML === part.innerHTML) continue
    old.replaceChildren(...document.importNode(part, true).childNodes)
  }
  showFinish()
}

const finish = find('button[data-post="complete"]', HTMLButtonElement)

/** There is something to finish only in the middle of a rotation. */
function showFinish() {
  const isPending = document.querySelector('#keys-now [data-pending]') !== null
  // Whoever has just used it goes on beside it, and not at the start of the page.
  const next = finish.nextElementSibling
  if (!isPending && finish === document.activeElement && next instanceof HTMLElement) next.focus()
  finish.hidden = !isPending
}

/** @param {boolean} isOpen */
function showConnection(isOpen) {
  const text = isOpen ? 'Live' : 'Not connected: is portcullis serve still running?'
  if (connection.textContent !== text) connection.textContent = text
  connection.classList.toggle('lost', !isOpen)
}

const stream = new EventSource('/control/stream')
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
