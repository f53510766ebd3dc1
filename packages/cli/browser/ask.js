// What the page asks of the service, which makes all markup: parts of the page come as documents and are moved to their places,
// so no text ever becomes markup here, and trusted types forbid it.

/** Milliseconds. */
const DEADLINE = 30_000

/** @typedef {Record<string, unknown>} Body */

/**
 * @template {Element} Kind
 * @param {string} selector
 * @param {new () => Kind} kind
 * @param {ParentNode} from
 * @returns {Kind}
 */
export function find(selector, kind, from = document) {
  const found = from.querySelector(selector)
  if (!(found instanceof kind)) throw new TypeError(`there is no ${selector}`)
  return found
}

/** What is wrong, in words of the service. */
class Refused extends Error {}

/**
 * A part of the page, as a document in which no script runs.
 *
 * @param {string} url
 * @param {Body} [body]
 * @returns {Promise<Document>}
 */
export async function load(url, body) {
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
 * @returns {Promise<Body>}
 */
export async function control(operation, body) {
  const response = await fetch(`/control/${operation}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(DEADLINE),
  }).catch(() => {
    throw new Refused('the service does not answer.')
  })
  /** @type {unknown} */
  const answer = await response.json().catch(() => undefined)
  const members = /** @type {Body} */ (Object(answer))
  if (response.ok) return members
  const { error } = members
  throw new Refused(typeof error === 'string' ? error : `it answers ${response.status}.`)
}
