import { html } from 'hono/html'

import { field, type Html, panel } from './text.ts'

// The panel of the console that ends a session: it sends a log-out token to an API.

export function sessionPanel(): Html {
  return panel(
    'session',
    'End a session',
    html`<form class="actions" data-form="logout">
      ${field('url', 'Where your API receives log-outs', 'http://localhost:3000/backchannel-logout')}
      <div class="fields">
        ${field('clientId', 'Client (aud)', 'my-client')} ${field('sub', 'User (sub)', 'demo')}
        ${field('sid', 'Session (sid)', '', 'none')}
      </div>
      <div class="row">
        <span class="buttons"
          ><button type="submit" class="primary">Send the log-out token</button></span
        >
      </div>
    </form>`,
  )
}
