import { createHash } from 'node:crypto'

import type { Clock } from '@portcullis/kit/time'
import { manualClock } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import type { DpopProof, PresentedProof, ReplayAnswer } from '../../src/dpop/proof-check.ts'
import { NOW, requestWith } from './proof-maker.ts'
import { client, guarding, verdictOf } from './proof-verdicts.ts'

function answering(remember: (proof: DpopProof, now: number) => unknown) {
  return { replays: { remember: remember as (proof: DpopProof) => ReplayAnswer } }
}

function thenable(then: (resolve: (word: string) => void) => void): object {
  // oxlint-disable-next-line unicorn/no-thenable
  return { then }
}

describe('replays', () => {
  test('the same proof twice at once: both checks pass, and one of the two is remembered', async () => {
    const proofs = guarding()
    const request = requestWith(client.proof())
    const attempt = async () => {
      await proofs.remember(await proofs.check(request))
    }
    const verdicts = await Promise.all([verdictOf(attempt()), verdictOf(attempt())])
    expect(verdicts.toSorted()).toEqual(['accepted', 'replayed_proof'])
  })

  test('a proof that was checked and not remembered is new', async () => {
    const proofs = guarding()
    const request = requestWith(client.proof())
    await proofs.check(request)
    expect(await verdictOf(proofs.remember(await proofs.check(request)))).toBe('accepted')
    expect(await verdictOf(proofs.remember(await proofs.check(request)))).toBe('replayed_proof')
  })

  test('a proof that expires between check and remember: proof_time, and the memory is not asked', async () => {
    const clock = manualClock(NOW)
    const asked: unknown[] = []
    const proofs = guarding({ clock, ...answering((proof) => (asked.push(proof), 'new')) })
    const proof = await proofs.check(requestWith(client.proof()))
    await clock.advance(65.5)
    expect(await verdictOf(proofs.remember(proof))).toBe('proof_time')
    expect(asked).toEqual([])
  })

  test('a proof in the last second of its time is remembered', async () => {
    const clock = manualClock(NOW)
    const proofs = guarding({ clock })
    const proof = await proofs.check(requestWith(client.proof()))
    await clock.advance(65)
    expect(await verdictOf(proofs.remember(proof))).toBe('accepted')
  })

  test('a memory that answers at once is not waited for', async () => {
    const proofs = guarding()
    const proof = await proofs.check(requestWith(client.proof()))
    expect(proofs.remember(proof)).toBeUndefined()
  })

  test('a clock that is set forward and back again: a used proof is never accepted', async () => {
    let time = NOW
    const clock: Clock = { ...manualClock(NOW), now: () => time }
    const proofs = guarding({ clock })
    const request = requestWith(client.proof())
    const attempt = async (made: PresentedProof) =>
      await verdictOf(proofs.check(made).then(async (proof) => await proofs.remember(proof)))
    expect(await attempt(request)).toBe('accepted')
    time = NOW + 3600
    const later = requestWith(client.proof({ claims: { iat: time } }))
    expect([await attempt(request), await attempt(later)]).toEqual(['proof_time', 'accepted'])
    time = NOW
    expect([await attempt(request), await attempt(later)]).toEqual(['unreachable', 'proof_time'])
    time = NOW + 3600
    expect(await attempt(later)).toBe('replayed_proof')
  })

  test('the memory is told the hash of the jti, and nothing else that the client wrote', async () => {
    const asked: unknown[] = []
    const proofs = guarding(answering((proof, now) => (asked.push(proof, now), 'new')))
    await proofs.remember(await proofs.check(requestWith(client.proof({ claims: { jti: 'a' } }))))
    const jti = createHash('sha256').update('a').digest('base64url')
    expect(asked).toEqual([{ jkt: client.jkt, jti, expires: NOW + 65 }, NOW])
  })

  test.each<[string, () => unknown, string]>([
    ['new', () => 'new', 'accepted'],
    ['replayed', () => 'replayed', 'replayed_proof'],
    ['full', () => 'full', 'full'],
    ['unavailable', () => 'unavailable', 'unreachable'],
    ['new, by and by', async () => 'new', 'accepted'],
    ['replayed, by and by', async () => 'replayed', 'replayed_proof'],
    ['true', () => true, 'unreachable'],
    ['true, by and by', async () => true, 'unreachable'],
    ['nothing', () => undefined, 'unreachable'],
    ['null', () => null, 'unreachable'],
    ['a list of new', () => ['new'], 'unreachable'],
    ['an object that says new', () => ({ toString: () => 'new' }), 'unreachable'],
    ['another word', () => 'NEW', 'unreachable'],
    [
      'with a failure',
      () => {
        throw new Error('down')
      },
      'unreachable',
    ],
    [
      'with a failure, by and by',
      async () => {
        throw new Error('down')
      },
      'unreachable',
    ],
    [
      'with a promise of another kind',
      () =>
        thenable((resolve) => {
          resolve('new')
        }),
      'accepted',
    ],
    [
      'with a promise that throws',
      () =>
        thenable(() => {
          throw new Error('down')
        }),
      'unreachable',
    ],
  ])('a memory that answers %s', async (_, remember, verdict) => {
    const proofs = guarding(answering(remember))
    const proof = await proofs.check(requestWith(client.proof()))
    expect(await verdictOf(proofs.remember(proof))).toBe(verdict)
  })

  test('a memory that fails: 503, and the cause is there for developers', async () => {
    const fault = new Error('down')
    const proofs = guarding(
      answering(() => {
        throw fault
      }),
    )
    const proof = await proofs.check(requestWith(client.proof()))
    await expect(proofs.remember(proof)).rejects.toMatchObject({
      code: 'replay_unavailable',
      status: 503,
      cause: fault,
    })
  })

  test('a memory that hangs: 503 after a second, and its late answer changes nothing', async () => {
    const clock = manualClock(NOW)
    const answers: ((word: string) => void)[] = []
    const proofs = guarding({
      clock,
      ...answering(
        async () =>
          await new Promise((resolve) => {
            answers.push(resolve)
          }),
      ),
    })
    const proof = await proofs.check(requestWith(client.proof()))
    const outcome = verdictOf(proofs.remember(proof))
    await clock.advance(1)
    expect(await outcome).toBe('unreachable')
    answers[0]?.('new')
    await clock.advance(0)
    expect(await outcome).toBe('unreachable')
  })

  test('a memory that hangs and fails late leaves no rejection that nobody handles', async () => {
    const clock = manualClock(NOW)
    const failures: ((error: Error) => void)[] = []
    const proofs = guarding({
      clock,
      ...answering(
        async () =>
          await new Promise((_, reject) => {
            failures.push(reject)
          }),
      ),
    })
    const proof = await proofs.check(requestWith(client.proof()))
    const outcome = verdictOf(proofs.remember(proof))
    await clock.advance(1)
    expect(await outcome).toBe('unreachable')
    failures[0]?.(new Error('late'))
    await clock.advance(0)
  })

  test('a caller that has left before: its reason, and nothing is remembered', async () => {
    const proofs = guarding()
    const proof = await proofs.check(requestWith(client.proof()))
    const reason = new Error('gone')
    await expect(proofs.remember(proof, AbortSignal.abort(reason))).rejects.toBe(reason)
    expect(await verdictOf(proofs.remember(proof))).toBe('accepted')
  })

  test('a caller that leaves while the memory is asked: its reason, at once', async () => {
    const proofs = guarding(answering(async () => await new Promise(() => {})))
    const proof = await proofs.check(requestWith(client.proof()))
    const controller = new AbortController()
    const outcome = proofs.remember(proof, controller.signal)
    controller.abort(new Error('gone'))
    await expect(outcome).rejects.toThrow('gone')
  })
})
