import { execFile, spawn } from 'node:child_process'
import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

import { metrics, trace } from '@opentelemetry/api'
import type { Sources } from '@portcullis/metrics/prometheus'
import { createTestIssuer, tokenService } from '@portcullis/testing'
import { afterAll, expect, test, vi } from 'vitest'

import { writtenExamples } from './examples.ts'
import { blocksOf } from './markdown.ts'

// The README of @portcullis/metrics: its example is a program, and its commands are pasted into a shell.

const root = join(import.meta.dirname, '..', '..')
const readme = readFileSync(join(root, 'packages', 'metrics', 'README.md'), 'utf8')
const blocks = blocksOf(readme)
const [example = '', otherExample = ''] = blocks
  .filter(({ language }) => language === 'ts')
  .map(({ code }) => code)
const examples = writtenExamples('.metrics-readme')
afterAll(() => {
  examples.remove()
})

test('the example runs, and its commands print what is said beside them', async () => {
  const issuer = await createTestIssuer()
  await using service = await tokenService(issuer).listen()
  // On free ports, which it says.
  const code = example.replaceAll(
    /(\w+)\.listen\(\d+.*\)/g,
    `$1.listen(0, '127.0.0.1', function () { console.log('$1', this.address().port) })`,
  )
  const program = spawn(
    process.execPath,
    ['--conditions=@portcullis/source', examples.write('app', code)],
    { env: { ...process.env, AUTH_URL: service.authUrl }, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  try {
    const ports = new Map<string, string>()
    for await (const line of createInterface({ input: program.stdout })) {
      const [name = '', port = ''] = line.split(' ')
      ports.set(name, port)
      if (ports.size === 2) break
    }
    const shell = promisify(execFile)
    const token = await issuer.token({ claims: { sub: 'ada' } })
    const run = async (command: string) => {
      const pasted = command
        .replaceAll('localhost:3000', `127.0.0.1:${ports.get('app')}`)
        .replaceAll('localhost:3001', `127.0.0.1:${ports.get('inside')}`)
      const { stdout } = await shell('sh', ['-c', pasted], {
        env: { ...process.env, TOKEN: token },
      })
      return stdout
    }
    const commands = (blocks.filter(({ language }) => language === 'sh')[1]?.code ?? '')
      .split('\n')
      .filter((line) => line.startsWith('curl'))
    const [ready = '', accepted = '', refused = '', lines = '', status = ''] = commands
    expect(commands).toHaveLength(5)
    await vi.waitFor(async () => {
      expect(await run(ready)).toBe('OK')
    }, 60_000)
    expect(JSON.parse(await run(accepted))).toMatchObject({ sub: 'ada' })
    expect(await run(refused)).not.toContain('ada')
    const text = await run(lines)
    expect(text).toContain('portcullis_keys_usable{source="main"} 1\n')
    expect(text).toContain(
      'portcullis_refusals_total{framework="express",code="missing_token",reason="missing_header"} 1\n',
    )
    expect(text).toContain(
      'portcullis_verdicts_total{source="main",code="accepted",reason="none",remembered="false"} 1\n',
    )
    expect(JSON.parse(await run(status))).toMatchObject({
      keys: { main: { freshness: 'fresh' } },
    })
  } finally {
    program.kill()
    await once(program, 'exit')
  }
})

test('the example for OpenTelemetry listens, and nothing needs an SDK', async () => {
  const getMeter = vi.spyOn(metrics, 'getMeter')
  const getTracer = vi.spyOn(trace, 'getTracer')
  const { observe } = (await examples.run('opentelemetry', otherExample)) as {
    observe: (sources: Sources) => void // or the test fails at the call
  }
  observe({})
  expect(getMeter).toHaveBeenCalledWith('portcullis')
  expect(getTracer).toHaveBeenCalledWith('portcullis')
  expect(channel('portcullis:login').hasSubscribers).toBe(true)
})
