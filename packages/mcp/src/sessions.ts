import { createHash } from 'node:crypto'

import type { TokenOwner } from '@portcullis/core/adapter'
import { noOptions } from '@portcullis/core/verifier'
import { LRUCache } from 'lru-cache'

// Whose each session is that this server has begun: bounded in all and for each user.

/** Whose a session is, and where it counts. */
type Owner = Pick<TokenOwner, 'id' | 'account'>

export interface Sessions {
  /** Whether the session is of this owner, of another one, or of nobody that is known. */
  statusOf(id: string, owner: Owner): 'own' | 'other' | 'unknown'
  /**
   * Notes whose a new session is.
   *
   * @throws Error for the id of another owner's session: ids must not be given out twice.
   */
  begin(id: string, owner: Owner): void
  end(id: string): void
}

export interface SessionLimits {
  readonly max: number
  readonly maxPerUser: number
}

/**
 * A session that is not known is refused, never bound to whoever asks first. So nothing is kept of ids that clients invent. A user
 * who begins too many loses those that were not used for the longest time, of whatever client; others keep theirs.
 */
export function createSessions({ max, maxPerUser }: SessionLimits): Sessions {
  /** The sessions of each account, the least recently used first. */
  const ofAccount = new Map<string, Set<string>>()
  const sessions = new LRUCache<string, Owner>({
    max,
    dispose({ account }, name) {
      const names = ofAccount.get(account)
      names?.delete(name)
      if (names?.size === 0) ofAccount.delete(account)
    },
  })

  /** What another owner asks for does not count as used. */
  function use(name: string, { account }: Owner): void {
    sessions.get(name, noOptions())
    const names = ofAccount.get(account) ?? new Set()
    ofAccount.set(account, names)
    names.delete(name)
    names.add(name)
  }

  /** Before the account gets another one: it must not push out somebody else's. */
  function makeRoom({ account }: Owner): void {
    const names = ofAccount.get(account) ?? new Set()
    const [oldest = ''] = names
    if (names.size >= maxPerUser) sessions.delete(oldest)
  }

  return {
    statusOf(id, asking) {
      const [name, owner] = [digest(id), digested(asking)]
      const found = sessions.peek(name, noOptions())
      if (found === undefined) return 'unknown'
      if (found.id !== owner.id) return 'other'
      use(name, found)
      return 'own'
    },
    begin(id, beginning) {
      const [name, owner] = [digest(id), digested(beginning)]
      const found = sessions.peek(name, noOptions())
      if (found !== undefined && found.id !== owner.id) {
        throw new Error('the server has given the id of a session to a second user')
      }
      if (found === undefined) {
        makeRoom(owner)
        sessions.set(name, owner, noOptions())
      }
      use(name, found ?? owner)
    },
    end(id) {
      sessions.delete(digest(id))
    },
  }
}

/** However long a text is, what is kept of it is not, and it may hold a token. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

function digested({ id, account }: Owner): Owner {
  return { id: digest(id), account: digest(account) }
}
