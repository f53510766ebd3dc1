import type { Cause, History } from './oracle.ts'

// What was disturbed, when, and where.

export interface Chronicle {
  /** Notes that something is disturbed from now on, everywhere or at one worker. Answers what ends it. */
  begin(track: Cause, worker?: string): () => void
  /** Notes what is known only afterwards. */
  note(track: Cause, from: number, until: number): void
  /** As one worker saw it. */
  at(worker: string): History
}

interface Episode {
  readonly track: Cause
  readonly worker: string | undefined
  readonly from: number
  until: number
}

/** Seconds after which nobody asks any more. */
const KEPT = 300

/** @param now Seconds. */
export function createChronicle(now: () => number): Chronicle {
  let episodes: readonly Episode[] = []
  const keep = (episode: Episode) => {
    episodes = [...episodes.filter(({ until }) => until > now() - KEPT), episode]
  }
  return {
    note(track, from, until) {
      keep({ track, worker: undefined, from, until })
    },
    begin(track, worker) {
      const episode: Episode = { track, worker, from: now(), until: Infinity }
      keep(episode)
      return () => {
        episode.until = now()
      }
    },
    at: (worker) => ({
      wasDisturbed: (track, from, until) =>
        episodes.some(
          (episode) =>
            episode.track === track &&
            (episode.worker === undefined || episode.worker === worker) &&
            episode.from <= until &&
            episode.until >= from,
        ),
    }),
  }
}
