// What is told to others: functions that have subscribed.

export { createListeners, type Listeners } from './report/listeners.ts'
