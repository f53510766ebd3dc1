// What is told to others: to functions that have subscribed, and to developers.

export { debug, isDebugging } from './report/debug-log.ts'
export { createListeners, type Listeners } from './report/listeners.ts'
export { callListener, warn } from './report/warnings.ts'
