import type { History } from './oracle.ts'
import type { Track } from './schedule.ts'

// What was disturbed, when, and where.

export interface Chronicle {
  /** Notes that something is disturbed from now on, everywhere or at one worker. Answers what ends it. */
  begin(track: Track, worker?: string): () => void
  /** As one worker saw it. */
  at(worker: string): History
}

interface Episode {
  readonly track: Track
  readonly worker: string | undefined
  readonly from: number
  until: number
}

/** Seconds after which nobody asks any more. */
const KEPT = 300

/** @param now Seconds. */
export function createChronicle(now: () => number): Chronicle {
  let episodes: readonly Episode[] = []
  return {
    begin(track, worker) {
      const episode: Episode = { track, worker, from: now(), until: Infinity }
      episodes = [...episodes.filter(({ until }) => until > now() - KEPT), episode]
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
