// What the console does in the browser. The server makes all markup: this script asks for parts of the page as documents and
// moves them to their places, so no text ever becomes markup here, and trusted types forbid it. It stores nothing.

/** As `MAX_ROWS` of log-panel.ts. */
const MAX_ROWS = 200
/** Milliseconds: how soon after an event the page is new, and how often it is without one, since time goes on. */
const SOON = 200
const PERIOD = 3000
const DEADLINE = 30_000

/** @typedef {Record<string, unknown>} Body */

/**
 * @template {Element} Kind
 * @param {string} selector
 * @param {new () => Kind} kind
 * @param {ParentNode} from
 * @returns {Kind}
 */
function find(selector, kind, from = document) {
  const found = from.querySelector(selector)
  if (!(found instanceof kind)) throw new TypeError(`there is no ${selector}`)
  return found
}

const log = find('#log', HTMLOListElement)
const outcome = find('#outcome', HTMLElement)
const connection = find('#connection', HTMLElement)
const pause = find('#pause', HTMLButtonElement)

/** What is wrong, in words of the service. */
class Refused extends Error {}

/**
 * A part of the page, as a document in which no script runs.
 *
 * @param {string} url
 * @param {Body} [body]
 * @returns {Promise<Document>}
 */
async function load(url, body) {
  return await new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open(body === undefined ? 'GET' : 'POST', url)
    request.responseType = 'document'
    request.timeout = DEADLINE
    request.addEventListener('load', () => {
      const { status, responseXML: part } = request
      if (status === 200 && part !== null) resolve(part)
      else reject(new Refused(part?.body.textContent.trim() || `the service answers ${status}.`))
    })
    for (const type of ['error', 'timeout', 'abort']) {
      request.addEventListener(type, () => {
        reject(new Refused('the service does not answer.'))
      })
    }
    if (body !== undefined) request.setRequestHeader('content-type', 'application/json')
    request.send(body === undefined ? null : JSON.stringify(body))
  })
}

/**
 * Asks the control interface.
 *
 * @param {string} operation
 * @param {Body} body
 */
async function control(operation, body) {
  const response = await fetch(`/control/${operation}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(DEADLINE),
  }).catch(() => {
    throw new Refused('the service does not answer.')
  })
  if (response.ok) return
  /** @type {unknown} */
  const answer = await response.json().catch(() => undefined)
  throw new Refused(
    String(Reflect.get(Object(answer), 'error') ?? `it answers ${response.status}.`),
  )
}

// What changes by itself.

let lastId = Number(log.firstElementChild?.getAttribute('data-id') ?? 0)
let isWanted = false
let isRefreshing = false

/** At most one at a time, and soon after what asked for it: a flood of events is a few requests. */
function refreshSoon() {
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

// What the user does.

/** @type {number | undefined} */
let hiding

/** @param {string} text @param {boolean} [isFailure] */
function say(text, isFailure = false) {
  outcome.hidden = false
  outcome.classList.toggle('failure', isFailure)
  outcome.textContent = isFailure ? `Not done: ${text}` : text
  clearTimeout(hiding)
  // What went wrong stays to be read.
  if (!isFailure) hiding = setTimeout(() => (outcome.hidden = true), 10_000)
}

/** @param {() => Promise<string>} action What it answers is said. */
function act(action) {
  action().then(
    (text) => {
      say(text)
      refreshSoon()
    },
    (/** @type {unknown} */ error) => {
      say(error instanceof Error ? error.message : String(error), true)
    },
  )
}

const DONE = new Map([
  ['complete', 'The rotation is finished.'],
  ['rollback', 'The key before signs again.'],
  ['fault/clear', 'All faults are ended.'],
])
for (const button of document.querySelectorAll('button[data-post]')) {
  const operation = button.getAttribute('data-post') ?? ''
  button.addEventListener('click', () => {
    act(async () => {
      await control(operation, {})
      return DONE.get(operation) ?? 'Done.'
    })
  })
}

/** @type {Map<string, (fields: Map<string, string>) => Promise<string>>} */
const FORMS = new Map([
  [
    'rotate',
    async (fields) => {
      await control('rotate', { publish: fields.get('publish'), kid: fields.get('kid') })
      return 'There is a new key.'
    },
  ],
  [
    'fault',
    async (fields) => {
      const kind = fields.get('kind') ?? ''
      const [limit, count] = (fields.get('limit') ?? '').split(':')
      await control('fault', {
        endpoint: fields.get('endpoint'),
        kind: /^\d+$/.test(kind) ? Number(kind) : kind,
        ...(limit === undefined || limit === '' ? {} : { [limit]: Number(count) }),
      })
      return 'The fault has begun.'
    },
  ],
  [
    'explain',
    async (fields) => {
      const at = fields.get('at') ?? ''
      const token = fields.get('token')
      await show('explain', { token, ...(at === '' ? {} : { at: Number(at) }) })
      return 'The token is explained.'
    },
  ],
  [
    'mint',
    async (fields) => {
      await show('mint', Object.fromEntries(fields))
      return 'A token is minted.'
    },
  ],
])
for (const form of document.querySelectorAll('form[data-form]')) {
  const submit = FORMS.get(form.getAttribute('data-form') ?? '')
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (!(form instanceof HTMLFormElement) || !(event instanceof SubmitEvent)) return
    const entries = [...new FormData(form, event.submitter)]
    const fields = new Map(
      entries.map(([name, value]) => [name, typeof value === 'string' ? value : '']),
    )
    if (submit !== undefined) act(async () => await submit(fields))
  })
}

/**
 * Shows what the service makes of a form, below it.
 *
 * @param {string} form
 * @param {Body} body
 */
async function show(form, body) {
  const part = await load(`/console/${form}`, body)
  const place = find(`#${form}-result`, HTMLElement)
  place.replaceChildren(...document.importNode(part.body, true).childNodes)
  place.focus({ preventScroll: true })
  place.scrollIntoView({ block: 'nearest' })
}

// A bad kind says all of its times itself.
const kindChoice = find('#mint select[name="kind"]', HTMLSelectElement)
kindChoice.addEventListener('change', () => {
  for (const input of document.querySelectorAll('#mint [data-sound] input')) {
    input.toggleAttribute('disabled', kindChoice.value !== '')
  }
})

// What was minted comes after this script has run.
find('#mint-result', HTMLElement).addEventListener('click', ({ target }) => {
  if (!(target instanceof HTMLButtonElement)) return
  const text = find(`#${target.value}`, HTMLElement).textContent
  if (target.name === 'copy') {
    act(async () => {
      await navigator.clipboard.writeText(text)
      return 'It is copied.'
    })
    return
  }
  const form = find('form[data-form="explain"]', HTMLFormElement)
  find('textarea', HTMLTextAreaElement, form).value = text
  form.requestSubmit()
})
