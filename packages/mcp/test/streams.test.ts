import { once } from 'node:events'
import { connect } from 'node:net'

import { type Clock, createVerifier, type Verifier } from '@portcullis/core'
import { createTestIssuer, manualClock } from '@portcullis/testing'
import { describe, expect, test, vi } from 'vitest'

import { FORMS, type Reply } from './forms.ts'
import { METADATA, PATH, RESOURCE, starting } from './started.ts'

describe.each(FORMS)('%s', (form, create) => {
  const start = starting(create)

  describe('open streams', () => {
    const manual = manualClock()
    let pending = 0
    /** Counts the timers that wait. */
    const clock: Clock = {
      ...manual,
      after(seconds, run) {
        let isPending = true
        const settle = () => {
          pending -= isPending ? 1 : 0
          isPending = false
        }
        pending++
        const cancel = manual.after(seconds, () => {
          settle()
          run()
        })
        return () => {
          settle()
          cancel()
        }
      },
    }

    async function open(type: string) {
      const own = await createTestIssuer({ clock, issuer: 'https://auth.test', audience: RESOURCE })
      const by = createVerifier({ ...own.verifierOptions, clockTolerance: 0 })
      const { stream, ...rest } = source()
      const handle = (): Reply => ({ headers: { 'content-type': type }, stream })
      const api = await start({ clock, requirement: undefined }, { by, handle })
      const headers = await own.bearer({ claims: { sub: 'ada', exp: clock.now() + 100 } })
      const answer = await api.ask(PATH, { headers })
      const reader = answer.body?.getReader()
      await reader?.read()
      return { ...rest, api, answer, reader, [Symbol.asyncDispose]: api[Symbol.asyncDispose] }
    }

    test.each(['text/event-stream', 'text/event-stream; charset=utf-8', ' TEXT/Event-Stream;a'])(
      'of %j end with the token, and whoever writes them is told',
      async (type) => {
        await using opened = await open(type)
        await manual.advance(100)
        const outcome = await opened.reader?.read().then(
          ({ done }) => (done ? 'ended' : 'went on'),
          () => 'cut',
        )
        expect(outcome).toBe(form === 'fetchEndpoint' ? 'ended' : 'cut')
        // What is written after the end is lost, and harms nobody.
        if (form === 'fetchEndpoint') await opened.cancelled
        else opened.send('after the end')
        expect((await opened.api.ask(METADATA)).status).toBe(200)
      },
    )

    test('an answer that is none goes on', async () => {
      await using opened = await open('text/event-streams')
      await manual.advance(100)
      opened.send('more')
      expect(Buffer.from((await opened.reader?.read())?.value ?? []).toString()).toBe('more')
    })

    test('one that ends by itself is watched no longer', async () => {
      await using opened = await open('text/event-stream')
      expect(pending).toBe(1)
      opened.end()
      expect((await opened.reader?.read())?.done).toBe(true)
      await vi.waitFor(() => {
        expect(pending).toBe(0)
      }, 60_000)
    })

    test('one whose client has left before its head is watched by nobody', async () => {
      const own = await createTestIssuer({ clock, issuer: 'https://auth.test', audience: RESOURCE })
      const verifier = createVerifier({ ...own.verifierOptions, clockTolerance: 0 })
      const gate = holding()
      const by: Verifier = {
        ...verifier,
        async verify(...given) {
          await gate.held()
          return await verifier.verify(...given)
        },
      }
      let served = 0
      const handle = (): Reply => {
        served++
        return { headers: { 'content-type': 'text/event-stream' }, stream: source().stream }
      }
      await using api = await start({ clock, requirement: undefined }, { by, handle })
      const headers = await own.bearer({ claims: { sub: 'ada', exp: clock.now() + 100 } })
      const lines = Object.entries({ host: 'a', ...headers }).map((each) => each.join(': '))
      const callers = Array.from({ length: 20 }, () => connect(api.port, '127.0.0.1'))
      for (const each of callers)
        each.write(`GET ${PATH} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
      await vi.waitFor(() => {
        expect(gate.asked()).toBe(20)
      }, 60_000)
      for (const each of callers) each.destroy()
      await vi.waitFor(async () => {
        expect(await api.connections()).toBe(0)
      }, 60_000)
      gate.go()
      await vi.waitFor(() => {
        expect(served).toBe(20)
      }, 60_000)
      expect((await api.ask(METADATA)).status).toBe(200)
      await vi.waitFor(() => {
        expect(pending).toBe(0)
      }, 60_000)
    })

    test('one that the client leaves is watched no longer', async () => {
      await using opened = await open('text/event-stream')
      expect(pending).toBe(1)
      await opened.reader?.cancel()
      await vi.waitFor(() => {
        expect(pending).toBe(0)
      }, 60_000)
    })
  })
})

/** Lets nobody on before the test says so. */
function holding() {
  let count = 0
  const told = new EventTarget()
  const opened = once(told, 'go')
  return {
    async held() {
      count++
      await opened
    },
    asked: () => count,
    go: () => {
      told.dispatchEvent(new Event('go'))
    },
  }
}

/** A stream whose end the test decides. */
function source() {
  const told = new EventTarget()
  const cancelled = once(told, 'cancel')
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const stream = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given
      given.enqueue(Buffer.from(': open\n\n'))
    },
    cancel() {
      told.dispatchEvent(new Event('cancel'))
    },
  })
  return {
    stream,
    cancelled,
    send: (text: string) => controller?.enqueue(Buffer.from(text)),
    end: () => controller?.close(),
  }
}
