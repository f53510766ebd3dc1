import type { JsonObject } from '@portcullis/core'
import { expect } from 'vitest'

import { type EventStream, openStream } from '../src/index.ts'
import { DESCRIPTION, POLLED, streamScene } from './stream-scene.ts'
import { CONFIGURATION, sentBy } from './stream-transmitter.ts'

// Processes of one application, whose requests about streams arrive in a stated order.

type Operation = 'list' | 'create' | 'update' | 'delete'

const OPERATIONS: Readonly<Record<string, Operation>> = {
  GET: 'list',
  POST: 'create',
  PATCH: 'update',
  DELETE: 'delete',
}

interface Waiting {
  readonly operation: Operation
  readonly go: () => void
}

interface Process {
  readonly stream: EventStream
  waiting: Waiting | undefined
  isFree: boolean
  isGone: boolean
}

export const OTHER: JsonObject = { ...POLLED, description: 'another API' }

/** @param ids Of the streams, in the order in which they are created. */
export async function processesScene(ids: string[]) {
  const scene = await streamScene({}, { ids })
  const { clock, transmitter, settings } = scene
  const processes = new Map<string, Process>()
  transmitter.put('another', OTHER)
  const others = transmitter.streams.get('another')

  function start(name: string, isFree = false): void {
    const process: Omit<Process, 'stream'> = { isFree, isGone: false, waiting: undefined }
    const stream = openStream({
      ...settings,
      async fetch(url, init) {
        if (process.isGone) return await new Promise(() => undefined)
        const operation = OPERATIONS[sentBy(url, init).method]
        const isAboutStreams = url.startsWith(CONFIGURATION)
        if (isAboutStreams && !process.isFree && operation !== undefined) {
          await new Promise<void>((go) => (process.waiting = { operation, go }))
        }
        return await transmitter.fetch(url, init)
      },
    })
    processes.set(name, Object.assign(process, { stream: scene.opened(stream) }))
  }

  function named(name: string): Process {
    const process = processes.get(name)
    if (process === undefined) throw new Error('there is no such process')
    return process
  }

  /** Lets the request of a process arrive, and its answer come. */
  async function step(name: string, operation: Operation): Promise<void> {
    const process = named(name)
    for (let turns = 0; process.waiting === undefined && turns < 100; turns++)
      await clock.advance(0)
    expect([name, process.waiting?.operation]).toEqual([name, operation])
    const { waiting } = process
    process.waiting = undefined
    waiting?.go()
    await clock.advance(0)
  }

  return {
    ...scene,
    start,
    /** Such as `A list`, one after the other. */
    play: async (...steps: readonly `${string} ${Operation}`[]): Promise<void> => {
      for (const each of steps) {
        const [name = '', operation] = each.split(' ')
        await step(name, operation as Operation) // as the type of `steps` says
      }
    },
    /** Between two requests: what was sent is not answered, and nothing follows. */
    crash: async (name: string): Promise<void> => {
      const process = named(name)
      process.isGone = true
      await process.stream.close()
      processes.delete(name)
    },
    idOf: (name: string) => named(name).stream.status().streamId,
    ours: () => oursAt(transmitter),
    /** Every request goes through, until all processes have looked twice. */
    settle: async (): Promise<void> => {
      for (const process of processes.values()) {
        process.isFree = true
        process.waiting?.go()
      }
      await clock.advance(700)
    },
    /** There is one stream of ours, which all use, and that of others is as it was. */
    expectOne: (): void => {
      const ours = oursAt(transmitter)
      expect(ours).toHaveLength(1)
      for (const { stream } of processes.values()) {
        expect(stream.status()).toMatchObject({ state: 'open', streamId: ours[0] })
      }
      expect(transmitter.streams.get('another')).toEqual(others)
    },
  }
}

export function oursAt({
  streams,
}: {
  readonly streams: ReadonlyMap<string, { readonly configuration: JsonObject }>
}): readonly string[] {
  return [...streams]
    .filter(([, { configuration }]) => configuration['description'] === DESCRIPTION)
    .map(([id]) => id)
}
