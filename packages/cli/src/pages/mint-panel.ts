import { html } from 'hono/html'

import { type Html, shown } from './text.ts'

// The panel of the console that mints tokens, and what it shows of a new one.

interface Kind {
  readonly name: string
  readonly reason: string
}

/** @param kinds Of bad tokens. */
export function mintPanel(kinds: readonly Kind[]): Html {
  return html`<section class="panel" id="mint" aria-labelledby="mint-title">
    <header class="panel-head"><h2 id="mint-title">Mint a token</h2></header>
    <form class="actions" data-form="mint">
      <label class="block"
        ><span>Kind</span>
        <select name="kind">
          <option value="">a sound token</option>
          ${grouped(kinds).map(
            ([reason, names]) =>
              html`<optgroup label="bad: ${shown(reason)}">
                ${names.map((name) => html`<option value="${name}">${shown(name)}</option>`)}
              </optgroup>`,
          )}
        </select>
      </label>
      <div class="fields">
        <label class="block"
          ><span>Subject (sub)</span
          ><input name="sub" value="demo" autocomplete="off" spellcheck="false"
        /></label>
        <label class="block" data-sound
          ><span>Expires in</span
          ><input
            name="expiresIn"
            autocomplete="off"
            spellcheck="false"
            placeholder="as usual, or 5m"
        /></label>
        <label class="block" data-sound
          ><span>Valid only after</span
          ><input
            name="notBefore"
            autocomplete="off"
            spellcheck="false"
            placeholder="at once, or 30s"
        /></label>
      </div>
      <label class="block"
        ><span>Other claims, as JSON</span>
        <textarea
          name="claims"
          rows="3"
          spellcheck="false"
          autocomplete="off"
          placeholder='{ "scope": "locations:write" }'
        ></textarea>
      </label>
      <label class="block"
        ><span>The address of your API, for the curl line</span>
        <input name="url" value="http://localhost:3000/" autocomplete="off" spellcheck="false" />
      </label>
      <div class="row">
        <span class="buttons"><button type="submit" class="primary">Mint</button></span>
      </div>
    </form>
    <div id="mint-result" tabindex="-1"></div>
  </section>`
}

/** @param url Of an API that is called with it. */
export function mintedPart(token: string, url: string): Html {
  const curl = `curl -i -H ${quoted(`Authorization: Bearer ${token}`)} ${quoted(url)}`
  return html`<h3>The token</h3>
    <pre
      tabindex="0"
      role="region"
      aria-label="The token"
    ><code id="minted-token">${token}</code></pre>
    <h3>A call with it</h3>
    <pre
      tabindex="0"
      role="region"
      aria-label="The curl line"
    ><code id="minted-curl">${curl}</code></pre>
    <p class="buttons">
      <button type="button" name="copy" value="minted-token">Copy the token</button>
      <button type="button" name="copy" value="minted-curl">Copy the curl line</button>
      <button type="button" name="explain" value="minted-token">Explain it</button>
    </p>`
}

/** As a shell reads it: nothing in it has a meaning. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

function grouped(kinds: readonly Kind[]): readonly (readonly [string, readonly string[]])[] {
  const reasons = new Map<string, string[]>()
  for (const { name, reason } of kinds) reasons.set(reason, [...(reasons.get(reason) ?? []), name])
  return [...reasons]
}
