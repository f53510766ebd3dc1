import { printable } from '../surroundings/printable.ts'

// Prints events of a running service. They came over the network, so nothing about them is trusted but their form.

/** An event as it came over the network: from a service of another version, or from no service of ours. */
export interface SeenEvent {
  /** Seconds since 1970-01-01T00:00:00Z. */
  readonly time: number
  readonly type: string
  readonly [name: string]: unknown
}

/** The last second that a date can show. */
const MAX_TIME = 8_640_000_000_000

/** `undefined` for what is no event. Nothing but the time and the type is checked: each line reads what it shows. */
export function readEvent(value: unknown): SeenEvent | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { time, type, ...others }: Readonly<Record<string, unknown>> = { ...value }
  if (typeof time !== 'number' || !(Math.abs(time) <= MAX_TIME)) return undefined
  return typeof type === 'string' ? { time, type, ...others } : undefined
}

export function eventLine(event: SeenEvent): string {
  const time = new Date(event.time * 1000).toISOString().slice(11, 19)
  return printable(`${time} UTC  ${whatHappened(event)}`)
}

function whatHappened(event: SeenEvent): string {
  const shown = (name: string, otherwise = '?') => textOf(event[name], otherwise)
  // As much of a thumbprint as tells keys apart, so that the line fits a terminal.
  const key = shown('thumbprint').slice(0, 8)
  switch (event.type) {
    case 'request': {
      const name = event['loginId'] === undefined ? 'clientId' : 'loginId'
      const who = event[name] === undefined ? '' : `  ${JSON.stringify(shown(name))}`
      return `${shown('endpoint', 'other').padEnd(5)}  ${shown('status', '---')}${who}`
    }
    case 'rotated':
      return `rotated, publish ${shown('publish')}: ${key} signs`
    case 'completed':
      return `rotation completed: ${key} signs`
    case 'rolled back':
      return `rolled back: ${key} signs`
    case 'minted':
      return event['kind'] === undefined ? 'minted a token' : `minted a bad token: ${shown('kind')}`
    case 'fault':
      return `fault of ${shown('endpoint')}: ${shown('kind')}`
    case 'faults cleared':
      return `faults cleared: ${shown('cleared')}`
    case 'session ended':
      return `session ended, the API answered ${shown('status', 'nothing')}`
    case 'verdict': {
      const often = event['count'] === 1 ? '' : ` ${shown('count')} times`
      return event['code'] === undefined
        ? `${shown('api', 'api')}  accepted${often}`
        : `${shown('api', 'api')}  refused${often}  ${shown('reason')}: ${shown('detail')}`
    }
    case 'verdicts dropped':
      return `${shown('api', 'api')}  too many to report: ${shown('count')}`
    default:
      // Of a newer version of the service.
      return 'something that this version does not know'
  }
}

function textOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : otherwise
}
