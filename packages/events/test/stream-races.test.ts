import { describe, expect, test } from 'vitest'

import { processesScene } from './stream-processes.ts'

// Two and three processes that open the same stream at once: each sequence of their requests that could leave none or two.

/** A and B have started. @param ids Of the streams, in the order in which they are created. */
async function two(ids: readonly string[]) {
  const scene = await processesScene([...ids])
  scene.start('A')
  scene.start('B')
  return scene
}

describe.each([
  ['the first by name', ['a', 'b']],
  ['the second by name', ['b', 'a']],
] as const)('the stream that was created first is %s', (_name, [first, second]) => {
  test('one after the other: the second creates none', async () => {
    const { start, play, settle, expectOne, ours } = await processesScene([first, second])
    start('A')
    await play('A list', 'A create', 'A list')
    start('B')
    await play('B list')
    await settle()
    expectOne()
    expect(ours()).toEqual([first])
  })

  test('both list, and the second creates after the first has decided: it deletes its own', async () => {
    const { play, clock, settle, expectOne, ours } = await two([first, second])
    await play('A list', 'B list', 'A create', 'A list', 'B create', 'B list')
    if (second === 'a') {
      await clock.advance(2)
      await play('B list')
    }
    await play('B delete')
    expect(ours()).toEqual([first])
    await settle()
    expectOne()
  })

  test('both create before either lists: the one that is first by name stays', async () => {
    const { play, clock, settle, expectOne, ours } = await two([first, second])
    await play('A list', 'B list', 'A create', 'B create', 'A list', 'B list')
    const [winner, loser] = first === 'a' ? (['A', 'B'] as const) : (['B', 'A'] as const)
    await play(`${loser} delete`)
    await clock.advance(2)
    await play(`${winner} list`)
    expect(ours()).toEqual(['a'])
    await settle()
    expectOne()
  })

  test('both create, and the second by name lists late: it finds its own alone', async () => {
    const { play, clock, settle, expectOne, ours } = await two([first, second])
    await play('A list', 'B list', 'A create', 'B create')
    const [early, late] = first === 'a' ? (['A', 'B'] as const) : (['B', 'A'] as const)
    await play(`${early} list`)
    await clock.advance(2)
    await play(`${early} list`, `${early} delete`, `${late} list`)
    expect(ours()).toEqual(['b'])
    await settle()
    expectOne()
  })

  test('both delete their own, each having seen the other: one is created again', async () => {
    const { play, clock, settle, expectOne, ours } = await two([first, second])
    await play('A list', 'B list', 'A create', 'B create', 'A list', 'B list')
    const [early, late] = first === 'a' ? (['A', 'B'] as const) : (['B', 'A'] as const)
    // The second has decided, and its request is on its way.
    await clock.advance(2)
    await play(`${early} list`, `${early} delete`, `${late} delete`)
    expect(ours()).toEqual([])
    await settle()
    expectOne()
  })

  test('the first ends between create and list: the second uses what it finds', async () => {
    const { start, play, crash, settle, expectOne, ours } = await processesScene([first, second])
    start('A')
    await play('A list', 'A create')
    await crash('A')
    start('B')
    await play('B list')
    expect(ours()).toEqual([first])
    await settle()
    expectOne()
  })

  test('the first ends between create and list, the second has listed before: it deletes its own', async () => {
    const { play, crash, clock, settle, expectOne, ours } = await two([first, second])
    await play('B list', 'A list', 'A create')
    await crash('A')
    await play('B create', 'B list')
    if (second === 'a') {
      await clock.advance(2)
      await play('B list')
    }
    await play('B delete')
    expect(ours()).toEqual([first])
    await settle()
    expectOne()
  })

  test('the second creates after the first has decided, and ends: what it leaves goes within two looks', async () => {
    const { play, crash, settle, expectOne, ours } = await two([first, second])
    await play('A list', 'B list', 'A create', 'A list', 'B create')
    await crash('B')
    expect(ours()).toHaveLength(2)
    await settle()
    expectOne()
    expect(ours()).toEqual(['a'])
  })

  test('a third process starts while two are left: all use one', async () => {
    const { start, play, crash, settle, expectOne } = await two([first, second])
    await play('A list', 'B list', 'A create', 'A list', 'B create')
    await crash('B')
    start('C')
    await play('C list')
    await settle()
    expectOne()
  })

  test('a stream that is deleted while another process begins to use it is created again', async () => {
    const { start, play, settle, expectOne, transmitter, idOf } = await processesScene([
      first,
      second,
    ])
    start('A')
    await play('A list', 'A create', 'A list')
    start('B')
    await play('B list')
    transmitter.streams.delete(first)
    expect(idOf('A')).toBe(first)
    await settle()
    expectOne()
  })
})

test.each([[['a', 'b', 'c']], [['c', 'b', 'a']], [['b', 'c', 'a']]])(
  'three processes create before any lists (%j): one stream stays',
  async (ids) => {
    const { start, play, settle, expectOne } = await processesScene(ids)
    start('A')
    start('B')
    start('C')
    await play('A list', 'B list', 'C list', 'A create', 'B create', 'C create')
    await play('C list', 'A list', 'B list')
    await settle()
    expectOne()
  },
)
