/** Numbers from 0 to 1 that look random and are the same in every run. */
export type Random = () => number

/** mulberry32 by Tommy Ettinger, in the public domain: 32 bits of state are plenty for a bench. */
export function seededRandom(seed: number): Random {
  let state = seed
  return () => {
    state = Math.trunc(state + 0x6d2b79f5)
    return scramble(state)
  }
}

/** The number that belongs to two numbers: like a list of random ones, of which none needs to be stored. */
export function randomAt(seed: number, index: number): number {
  return scramble(Math.imul(seed + 0x9e3779b9, 0x85ebca6b) + Math.imul(index + 1, 0x6d2b79f5))
}

function scramble(state: number): number {
  let bits = Math.imul(state ^ (state >>> 15), state | 1)
  bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
  return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
}
