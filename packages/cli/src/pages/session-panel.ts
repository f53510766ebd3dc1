import { html } from 'hono/html'

import type { Html } from './text.ts'

// The panel of the console that ends a session: it sends a log-out token to an API.

export function sessionPanel(): Html {
  return html`<section class="panel" id="session" aria-labelledby="session-title">
    <header class="panel-head"><h2 id="session-title">End a session</h2></header>
    <form class="actions" data-form="logout">
      <label class="block"
        ><span>Where your API receives log-outs</span>
        <input
          name="url"
          value="http://localhost:3000/backchannel-logout"
          autocomplete="off"
          spellcheck="false"
      /></label>
      <div class="fields">
        <label class="block"
          ><span>Client (aud)</span
          ><input name="clientId" value="my-client" autocomplete="off" spellcheck="false"
        /></label>
        <label class="block"
          ><span>User (sub)</span
          ><input name="sub" value="demo" autocomplete="off" spellcheck="false"
        /></label>
        <label class="block"
          ><span>Session (sid)</span
          ><input name="sid" placeholder="none" autocomplete="off" spellcheck="false"
        /></label>
      </div>
      <div class="row">
        <span class="buttons"
          ><button type="submit" class="primary">Send the log-out token</button></span
        >
      </div>
    </form>
  </section>`
}
