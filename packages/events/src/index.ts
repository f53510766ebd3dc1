// Everything that `@portcullis/events` exports.

export type { EventMessage, EventReport } from './diagnostics.ts'
export type { EventAnswer } from './answer.ts'
export type { EventRequest } from './event-request.ts'
export type { RevokingEvent } from './event-types.ts'
export type {
  AppleEventOptions,
  EventOptions,
  LogoutOptions,
  MappedSubject,
  PollEventsOptions,
  PushDelivery,
  ReceiveEventsOptions,
  SecurityEventOptions,
  StreamOptions,
} from './options.ts'
export {
  type EventStream,
  type EventStreamStatus,
  openStream,
  type PushedEventStream,
} from './open-stream.ts'
export { type EventPoll, type EventPollStatus, pollEvents } from './poll-events.ts'
export { type EventReceiver, receiveAppleEvents, receiveEvents, receiveLogout } from './receiver.ts'
export type { RefusedEvent } from './refused-event.ts'
