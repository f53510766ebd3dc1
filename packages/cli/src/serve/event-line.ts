import { printable } from '../printable.ts'
import type { LoggedEvent } from './event-log.ts'

/** An event as a line for people. What clients sent is in it, so it is made printable. */
export function eventLine(event: LoggedEvent): string {
  const time = new Date(event.time * 1000).toISOString().slice(11, 19)
  return printable(`${time}  ${whatHappened(event)}`)
}

function whatHappened(event: LoggedEvent): string {
  switch (event.type) {
    case 'request': {
      const { endpoint = 'other', status = '---', loginId } = event
      const who = loginId === undefined ? '' : `  ${JSON.stringify(loginId)}`
      return `${endpoint.padEnd(5)}  ${status}${who}`
    }
    case 'rotated':
      return `rotated, publish ${event.publish}: ${event.thumbprint} signs`
    case 'completed':
      return `rotation completed: ${event.thumbprint} signs`
    case 'rolled back':
      return `rolled back: ${event.thumbprint} signs`
    case 'minted':
      return event.kind === undefined ? 'minted a token' : `minted a bad token: ${event.kind}`
    case 'fault':
      return `fault of ${event.endpoint}: ${event.kind}`
    case 'faults cleared':
      return `faults cleared: ${event.cleared}`
    default:
      // Of a newer version of the service.
      return 'something that this version does not know'
  }
}
