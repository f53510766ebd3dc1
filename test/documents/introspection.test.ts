import { readFileSync } from 'node:fs'

import { afterAll, expect, test } from 'vitest'

import { writtenExamples } from './examples.ts'
import { blocksOf } from './markdown.ts'

const examples = writtenExamples('.introspection-readme')

afterAll(() => {
  examples.remove()
})

test('the README: without a token its example answers 401', async () => {
  const text = readFileSync(
    new URL('../../packages/introspection/README.md', import.meta.url),
    'utf8',
  )
  const code = blocksOf(text).find(({ language }) => language === 'ts')?.code ?? ''
  const { answer } = (await examples.run('readme', code)) as {
    answer: (request: Request) => Promise<Response> // or the test fails at the call
  }
  expect((await answer(new Request('https://api.example.com'))).status).toBe(401)
})
