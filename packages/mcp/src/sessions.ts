import { noOptions } from '@portcullis/core/verifier'
import { LRUCache } from 'lru-cache'

import { digest } from './owner.ts'

// Whose each session is that this server has begun: bounded in all and for each owner.

export interface Sessions {
  /** Whether the session is of this owner, of another one, or of nobody that is known. */
  statusOf(id: string, owner: string): 'own' | 'other' | 'unknown'
  /**
   * Notes whose a new session is.
   *
   * @throws Error for the id of another owner's session: ids must not be given out twice.
   */
  begin(id: string, owner: string): void
  end(id: string): void
}

export interface SessionLimits {
  readonly max: number
  readonly maxPerUser: number
}

/**
 * A session that is not known is refused, never bound to whoever asks first. So nothing is kept of ids that clients invent. An owner
 * who begins too many loses those that were not used for the longest time; others keep theirs.
 */
export function createSessions({ max, maxPerUser }: SessionLimits): Sessions {
  /** The sessions of each owner, the least recently used first. */
  const ofOwner = new Map<string, Set<string>>()
  const owners = new LRUCache<string, string>({
    max,
    dispose(owner, name) {
      const names = ofOwner.get(owner)
      names?.delete(name)
      if (names?.size === 0) ofOwner.delete(owner)
    },
  })

  /** What another owner asks for does not count as used. */
  function use(name: string, owner: string): void {
    owners.get(name, noOptions())
    const names = ofOwner.get(owner) ?? new Set()
    ofOwner.set(owner, names)
    names.delete(name)
    names.add(name)
  }

  /** Before the owner gets another one: it must not push out somebody else's. */
  function makeRoom(owner: string): void {
    const names = ofOwner.get(owner) ?? new Set()
    const [oldest = ''] = names
    if (names.size >= maxPerUser) owners.delete(oldest)
  }

  return {
    statusOf(id, owner) {
      const name = digest(id)
      const found = owners.peek(name, noOptions())
      if (found === undefined) return 'unknown'
      if (found !== owner) return 'other'
      use(name, owner)
      return 'own'
    },
    begin(id, owner) {
      const name = digest(id)
      const found = owners.peek(name, noOptions())
      if (found !== undefined && found !== owner) {
        throw new Error('the server has given the id of a session to a second user')
      }
      if (found === undefined) {
        makeRoom(owner)
        owners.set(name, owner, noOptions())
      }
      use(name, owner)
    },
    end(id) {
      owners.delete(digest(id))
    },
  }
}
