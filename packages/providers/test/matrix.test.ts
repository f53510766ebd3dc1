import { createHmac } from 'node:crypto'

import type { Algorithm } from '@portcullis/core'
import { describe, expect, test } from 'vitest'

import { cases } from './cases.ts'
import { ALGORITHMS, publishes, sampleOf, tokenOf, world } from './world.ts'

// Each provider with the metadata, the keys and the tokens that it documents, and without a network. The sample of its page is
// accepted; each token in the table is refused for the stated reason.

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

test.each(cases)('$page: the sample of its page is accepted', async (each) => {
  const { asked, verifier } = world(each)
  expect(asked, 'nothing is asked for before the first use').toEqual([])
  const { claims } = await verifier.verify(await tokenOf(each))
  expect(claims).toEqual(expect.objectContaining(sampleOf(each)))
  expect(asked).toEqual([...(each.metadata?.slice(1) ?? []), each.keyUrl])
})

const acceptingMore = cases.filter(({ accepted }) => accepted !== undefined)

describe.each(acceptingMore)('$page accepts', (each) => {
  test.each(each.accepted ?? [])('a token %s: %o', async (_title, change) => {
    const { verifier } = world(each)
    await expect(verifier.verify(await tokenOf(each, change))).resolves.toBeDefined()
  })
})

describe.each(cases)('$page refuses', (each) => {
  test.each(each.refused)('a token %s: %o', async (_title, change, reason) => {
    const { verifier, asked } = world(each)
    const refusal = verifier.verify(await tokenOf(each, change))
    await expect(refusal).rejects.toMatchObject({ code: 'invalid_token', reason })
    expect(asked.filter((url) => url === each.keyUrl).length).toBeLessThanOrEqual(1)
  })

  test.each(each.required ?? ['iss', 'sub'])('a token without %s', async (name) => {
    const { verifier } = world(each)
    const token = await tokenOf(each, { claims: { [name]: undefined } })
    await expect(verifier.verify(token)).rejects.toMatchObject({ code: 'invalid_token' })
  })

  test('a token that is signed with a shared secret', async () => {
    const { verifier } = world(each)
    const exp = Math.floor(Date.now() / 1000) + 60
    const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ ...sampleOf(each), exp })}`
    const mac = createHmac('sha256', 'secret').update(text).digest('base64url')
    await expect(verifier.verify(`${text}.${mac}`)).rejects.toMatchObject({ reason: 'algorithm' })
  })

  const accepted = new Set<Algorithm>([each.algorithm, ...(each.algorithmsToo ?? [])])
  const others = publishes(each) ? ALGORITHMS.filter((name) => !accepted.has(name)) : []
  test.each(others)('a token of %s, though the key is published', async (algorithm) => {
    const { verifier } = world(each)
    const token = await tokenOf(each, {}, algorithm)
    await expect(verifier.verify(token)).rejects.toMatchObject({ reason: 'algorithm' })
  })
})
