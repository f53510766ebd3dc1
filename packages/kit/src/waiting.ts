// Waits that have an end: for an answer of others, and for work that several share.

export {
  answerInTime,
  type AnswerLimits,
  PATIENCE,
  unlessAborted,
} from './waiting/answer-in-time.ts'
export {
  createWaitingRoom,
  LATENESS,
  pause,
  type Place,
  settledWithin,
  type Waiting,
  type WaitingRefusals,
  type WaitingRoom,
} from './waiting/waiting-room.ts'
