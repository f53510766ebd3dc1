import { registerHooks } from 'node:module'

// Loaded before a server, with `?main` or `?pool`: all signatures are checked there, in place of the rule of
// packages/core/src/token/event-loop.ts.

const isBusy = new URL(import.meta.url).search === '?pool'

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!url.endsWith('/core/dist/token/event-loop.js')) return loaded
    const source = `export function watchEventLoop() { return { isBusy: () => ${isBusy}, count() {} } }`
    return { ...loaded, source }
  },
})
