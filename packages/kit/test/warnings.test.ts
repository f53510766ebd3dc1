import { expect, onTestFinished, test, vi } from 'vitest'

import { callListener, warn } from '../src/report.ts'

const FAULT = new Error('of the listener')
/** What a function in JavaScript may throw as well. */
const TEXT = 'secret' as unknown as Error

function warnings() {
  const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  onTestFinished(() => {
    emitted.mockRestore()
  })
  return () => emitted.mock.calls.map(([each]) => each)
}

test.each<[string, () => unknown, readonly unknown[]]>([
  ['nothing', () => 'fine', []],
  [
    'its error',
    () => {
      throw FAULT
    },
    [FAULT],
  ],
  ['the error of its promise', async () => await Promise.reject(FAULT), [FAULT]],
  [
    'that it failed, where a text is thrown',
    async () => await Promise.reject(TEXT),
    ['onEnd failed'],
  ],
])('the process is warned of a listener: %s', async (_title, listener, expected) => {
  const told = warnings()
  await callListener('onEnd', listener)
  expect(told()).toEqual(expected)
})

test('a listener is called at once', () => {
  const called: string[] = []
  void callListener('onEnd', () => called.push('called'))
  expect(called).toEqual(['called'])
})

test('a warning shows an error, and of anything else the name of what failed', () => {
  const told = warnings()
  warn('authorize', FAULT)
  warn('authorize', { token: 'secret' })
  expect(told()).toEqual([FAULT, 'authorize failed'])
})
