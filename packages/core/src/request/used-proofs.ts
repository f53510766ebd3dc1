import {
  type DpopProof,
  type DpopProofs,
  type PresentedProof,
  proofMethods,
} from '../dpop/proof-check.ts'

// Remembers which proof a request was let through with, so that it is used once, however many guards the request passes: nested scopes have
// several, and GraphQL asks one guard for each resolver. The second would take the proof for a replayed one.

export interface UsedProof {
  readonly proof: DpopProof
  readonly asked: PresentedProof
  /** Until it is remembered. */
  readonly remembering: Promise<void> | undefined
}

/** By the object that stands for a request, then by who remembers proofs. */
type Place = Map<DpopProofs, UsedProof>

const used = new WeakMap<object, Place>()

/** @param requests All that stand for one request: frameworks wrap that of node. @param asked If changed since, it is another proof. */
export function findUsedProof(
  requests: readonly object[],
  dpop: DpopProofs,
  asked: PresentedProof,
): UsedProof | undefined {
  for (const request of requests) {
    const found = used.get(request)?.get(dpop)
    if (found !== undefined && isSame(found.asked, asked)) return found
  }
  return undefined
}

/** Once. @returns A promise where that takes its time, also for a guard that comes while another one waits. @throws AuthError */
export function useProof(
  requests: readonly object[],
  dpop: DpopProofs,
  { proof, asked }: Pick<UsedProof, 'proof' | 'asked'>,
): Promise<void> | undefined {
  const known = findUsedProof(requests, dpop, asked)
  if (known !== undefined) return known.remembering
  const places = requests.map(placeOf)
  const remembering = proofMethods(dpop).remember(proof)
  const write = (state: UsedProof | undefined) => {
    for (const place of places) {
      if (state === undefined) place.delete(dpop)
      else place.set(dpop, state)
    }
  }
  if (remembering === undefined) {
    write({ proof, asked, remembering })
    return undefined
  }
  const waiting = (async () => {
    try {
      await remembering
      write({ proof, asked, remembering: undefined })
    } catch (error) {
      write(undefined)
      throw error
    }
  })()
  write({ proof, asked, remembering: waiting })
  return waiting
}

function placeOf(request: object): Place {
  const known = used.get(request)
  if (known !== undefined) return known
  const place: Place = new Map()
  used.set(request, place)
  return place
}

function isSame(one: PresentedProof, other: PresentedProof): boolean {
  return (
    one.proof === other.proof &&
    one.token === other.token &&
    one.method === other.method &&
    one.target === other.target
  )
}
