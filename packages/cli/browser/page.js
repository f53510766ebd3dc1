// What the console does in the browser: this module has what the user does, and imports the rest. It stores nothing.

import { control, find, load } from './ask.js'
import { refreshSoon } from './live.js'

/** @typedef {import('./ask.js').Body} Body */

const outcome = find('#outcome', HTMLElement)
const pasted = find('form[data-form="explain"] textarea', HTMLTextAreaElement)

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
      const publish = fields.get('publish')
      const after = fields.get('after') ?? ''
      // A rotation at once has no second half.
      const timer = after === '' || publish === 'now' ? {} : { seconds: Number(after) }
      await control('rotate', { publish, kid: fields.get('kid'), ...timer })
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
      await explain(fields.get('token') ?? '')
      return 'The token is explained.'
    },
  ],
  [
    'mint',
    async (fields) => {
      const kind = fields.get('kind') ?? ''
      const sub = fields.get('sub') ?? ''
      const claims = sub === '' ? {} : { sub }
      const { token } = await control('mint', kind === '' ? { claims } : { claims, kind })
      pasted.value = String(token)
      await explain(pasted.value)
      return 'A token is minted and explained.'
    },
  ],
  [
    'logout',
    async (fields) => {
      const stated = [...fields].filter(([, value]) => value !== '')
      const { status } = await control('logout', Object.fromEntries(stated))
      const answer = typeof status === 'number' ? status : 'nothing'
      if (status !== 200 && status !== 204) {
        throw new Error(`the API answered ${answer}, and has recorded no log-out.`)
      }
      return `The API answered ${answer}: it refuses the tokens of that session from now on.`
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
 * Shows what the service makes of a token.
 *
 * @param {string} token
 */
async function explain(token) {
  const part = await load('/console/explain', { token })
  const place = find('#explain-result', HTMLElement)
  place.replaceChildren(...document.importNode(part.body, true).childNodes)
  place.focus({ preventScroll: true })
  place.scrollIntoView({ block: 'nearest' })
}

// A token that is pasted is explained at once.
pasted.addEventListener('paste', () => {
  setTimeout(() => pasted.form?.requestSubmit())
})

/** Tells which section is shown, or where the page was sent to. */
function markSection() {
  const hash = location.hash || '#explain'
  for (const link of document.querySelectorAll('.sections a')) {
    if (link.getAttribute('href') === hash) link.setAttribute('aria-current', 'true')
    else link.removeAttribute('aria-current')
  }
}
addEventListener('hashchange', markSection)
markSection()
