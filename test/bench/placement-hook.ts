import { registerHooks } from 'node:module'

// Loaded before a server, with `?main` or `?pool`: all signatures are checked there, in place of the rule of
// packages/core/src/token/event-loop.ts.

const isBusy = new URL(import.meta.url).search === '?pool'
const RULE = 'function watchEventLoop('

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!url.includes('/core/dist/')) return loaded
    const text = Buffer.from(loaded.source as Uint8Array).toString() // of a file it is no text
    if (!text.includes(RULE)) return loaded
    const replaced = `${RULE}) { return { isBusy: () => ${isBusy}, count() {} } }\nfunction rule(`
    return { ...loaded, source: text.replace(RULE, replaced) }
  },
})
