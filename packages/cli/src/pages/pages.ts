import { readFile } from 'node:fs/promises'

import type { Routes } from '@portcullis/testing'
import { Hono } from 'hono'
import { html } from 'hono/html'

import { BROWSER } from '../package-files.ts'
import { authUrlOf, bodyOf } from '../serve/control.ts'
import type { Denial, Gate } from '../serve/gate.ts'
import { InputError } from '../serve/input.ts'
import { readExplain } from '../serve/requests.ts'
import type { Service } from '../serve/service.ts'
import { faultsLive, faultsPanel } from './faults-panel.ts'
import { keysLive, keysPanel } from './keys-panel.ts'
import { layout, partDocument } from './layout.ts'
import { sessionPanel } from './session-panel.ts'
import type { Html } from './text.ts'
import { explanationPart, tokenPanel } from './token-panel.ts'

// The routes of the console and the headers of its answers. All HTML is made on the server.

const PREFIX = '/console/'

/** No text becomes a script or markup in the browser, and nothing is asked of another origin. https://www.w3.org/TR/CSP3/ */
const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** The files of `browser/`: no name of a request becomes a path unless it is here. */
const TYPES: Readonly<Record<string, string>> = {
  'ask.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
  'live.js': 'text/javascript; charset=utf-8',
  'page.css': 'text/css; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
}

const CHALLENGE = 'Basic realm="portcullis serve: any user, PORTCULLIS_SECRET", charset="UTF-8"'

export function createPages(service: Service, gate: Gate): Routes {
  const app = new Hono()
  app.get('/', async (context) => {
    const token = tokenPanel(await service.badKinds())
    const [keys, faults] = livePanels(service)
    const columns = [
      [token, keysPanel(keys, service.state())],
      [faultsPanel(faults), sessionPanel()],
    ]
    return context.html(layout(authUrlOf(context.req.raw), columns))
  })
  app.get(`${PREFIX}live`, (context) => context.html(partDocument(livePanels(service))))
  app.post(`${PREFIX}explain`, async (context) => {
    const { raw } = context.req
    const input = await bodyOf(raw, readExplain)
    if (input instanceof Response) return input
    const explained = await service.explain(input.token, authUrlOf(raw))
    return context.html(partDocument([explanationPart(explained)]))
  })
  app.get(`${PREFIX}:name`, async (context) => {
    const name = context.req.param('name')
    const type = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined
    if (type === undefined) return await context.notFound()
    const file = await readFile(new URL(name, BROWSER))
    return new Response(file, { headers: { 'content-type': type } })
  })
  app.onError((error, context) => {
    if (!(error instanceof InputError)) throw error
    return context.html(partDocument([html`<p>${error.message}</p>`]), 400)
  })

  return async (request) => {
    const { pathname } = new URL(request.url)
    if (pathname !== '/' && !pathname.startsWith(PREFIX)) return undefined
    const denial = gate(request)
    const response = denial === undefined ? await app.fetch(request) : denied(denial)
    for (const [name, value] of Object.entries(HEADERS)) response.headers.set(name, value)
    return response
  }
}

/** A browser that is asked for a password asks its user, and shows the text if there is none. */
function denied({ status, error }: Denial): Response {
  if (status !== 401) return new Response(`${error}\n`, { status })
  const text = `${error}: it is the password of any user. PORTCULLIS_SECRET sets it.\n`
  return new Response(text, { status, headers: { 'www-authenticate': CHALLENGE } })
}

function livePanels(service: Service): [keys: Html, faults: Html] {
  const state = service.state()
  return [keysLive(state), faultsLive(state)]
}
