// Everything that `@portcullis/events` exports.

export type { EventReport } from './diagnostics.ts'
export type { EventAnswer } from './answer.ts'
export type { EventRequest } from './event-request.ts'
export type { RevokingEvent } from './event-types.ts'
export type { EventMessage } from './event-message.ts'
export type {
  EventOptions,
  LogoutOptions,
  MappedSubject,
  PollEventsOptions,
  ReceiveEventsOptions,
  SecurityEventOptions,
} from './options.ts'
export { pollEvents } from './poll-events.ts'
export type { EventPoll, EventPollStatus } from './poll-events.ts'
export { receiveEvents } from './receive-events.ts'
export { receiveLogout } from './receive-logout.ts'
export type { EventReceiver } from './receiver.ts'
export type { RefusedEvent } from './refused-event.ts'
