// Work that several requests wait for: one flight for each name, a bound on all of them, and a queue for the rest.

export {
  beginFlight,
  ENDS_WITH_REQUEST,
  type Flight,
  flightOrPause,
  type FlightOptions,
  lend,
  outcomeOf,
  type WaitUntil,
} from './calls/flight.ts'
export {
  type BegunCall,
  type Calls,
  type CallsOptions,
  type CallStep,
  createCalls,
  type RunningCalls,
} from './calls/shared-calls.ts'
