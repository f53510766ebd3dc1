import type { TokenOwner } from '@portcullis/core/adapter'
import { sha256 } from '@portcullis/kit/digest'
import { noOptions } from '@portcullis/kit/options'
import { LRUCache } from 'lru-cache'

// Whose each session is that this server has begun: bounded in all and for each user.

type Owner = Pick<TokenOwner, 'id' | 'account'>

export interface Sessions {
  /** Whether the session is of this owner, of another one, or of nobody that is known. */
  statusOf(id: string, owner: Owner): 'own' | 'other' | 'unknown'
  /** @throws Error for the id of another owner's session: ids must not be given out twice. */
  begin(id: string, owner: Owner): void
  end(id: string): void
}

/** Why a session is over: the client has ended it with DELETE, or there were too many, of all users or of its own. */
type SessionEnd = 'deleted' | 'max' | 'maxPerUser'

export interface SessionLimits {
  readonly max: number
  readonly maxPerUser: number
}

interface Session extends Owner {
  /** Its id, where somebody wants to hear of its end. */
  readonly name: string | undefined
}

/**
 * Unknown sessions are refused, never bound to whoever asks first: nothing is kept of ids that clients invent. A user who begins too many
 * loses those that were not used for the longest time. @param onEnd It must not throw.
 */
export function createSessions(
  { max, maxPerUser }: SessionLimits,
  onEnd?: (id: string, why: SessionEnd) => void,
): Sessions {
  /** The sessions of each account, the least recently used first. */
  const ofAccount = new Map<string, Set<string>>()
  const sessions = new LRUCache<string, Session>({
    max,
    dispose({ account }, key) {
      const keys = ofAccount.get(account)
      keys?.delete(key)
      if (keys?.size === 0) ofAccount.delete(account)
    },
    // Once the new one is there: whoever is told may ask at once.
    disposeAfter(session, _key, reason) {
      if (reason === 'evict') tell(session, 'max')
    },
  })

  function tell({ name }: Session, why: SessionEnd): void {
    if (name !== undefined) onEnd?.(name, why)
  }

  function forget(key: string, why: SessionEnd): void {
    const session = sessions.peek(key, noOptions())
    sessions.delete(key)
    if (session !== undefined) tell(session, why)
  }

  /** What another owner asks for does not count as used. */
  function use(key: string, { account }: Owner): void {
    sessions.get(key, noOptions())
    const keys = ofAccount.get(account) ?? new Set()
    ofAccount.set(account, keys)
    keys.delete(key)
    keys.add(key)
  }

  /** Before the account gets another one: it must not push out somebody else's. */
  function makeRoom({ account }: Owner): void {
    const keys = ofAccount.get(account) ?? new Set()
    const [oldest = ''] = keys
    if (keys.size >= maxPerUser) forget(oldest, 'maxPerUser')
  }

  return {
    statusOf(id, asking) {
      const [key, owner] = [digest(id), digested(asking)]
      const found = sessions.peek(key, noOptions())
      if (found === undefined) return 'unknown'
      if (found.id !== owner.id) return 'other'
      use(key, found)
      return 'own'
    },
    begin(id, beginning) {
      const [key, owner] = [digest(id), digested(beginning)]
      const found = sessions.peek(key, noOptions())
      if (found !== undefined && found.id !== owner.id) {
        throw new Error('the server has given the id of a session to a second user')
      }
      if (found === undefined) {
        makeRoom(owner)
        const name = onEnd === undefined ? undefined : id
        sessions.set(key, { ...owner, name }, noOptions())
      }
      use(key, owner)
    },
    end(id) {
      forget(digest(id), 'deleted')
    },
  }
}

/** However long a text is, what is kept of it is not, and it may hold a token. */
function digest(text: string): string {
  return sha256(text)
}

function digested({ id, account }: Owner): Owner {
  return { id: digest(id), account: digest(account) }
}
