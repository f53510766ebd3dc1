import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { createTestIssuer, tokenService } from '@portcullis/testing'
import { afterAll, expect, test } from 'vitest'

// The program in processes of its own, on a free port.

const issuer = await createTestIssuer()
const service = await tokenService(issuer).listen()
afterAll(async () => {
  await service.close()
})

interface Running extends AsyncDisposable {
  readonly child: ChildProcess
  /** Where the primary shows the metrics of all. */
  readonly metrics: () => Promise<string>
  /** The worker that is announced next, and where it listens. */
  readonly nextWorker: () => Promise<{ readonly pid: number; readonly url: string }>
}

function start(workers: number): Running {
  const program = fileURLToPath(new URL('../src/cluster.ts', import.meta.url))
  const child = spawn(process.execPath, ['--conditions=@portcullis/source', program], {
    env: {
      ...process.env,
      AUTH_URL: service.authUrl,
      PORT: '0',
      METRICS_PORT: '0',
      WORKERS: String(workers),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let metrics = ''
  async function nextWorker(): Promise<{ readonly pid: number; readonly url: string }> {
    const line: { readonly value: unknown } = await lines.next()
    const [, name, pid, url = ''] = /^(worker|metrics) ?(\d*): (.*)$/.exec(String(line.value)) ?? []
    if (name !== 'metrics') return { pid: Number(pid), url }
    metrics = url
    return await nextWorker()
  }
  return {
    child,
    nextWorker,
    metrics: async () => await (await fetch(metrics)).text(),
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

/** As many calls as it takes to be answered by that many workers, each on a connection of its own. */
async function processesAnswering(url: string, wanted: number): Promise<Set<number>> {
  const found = new Set<number>()
  const headers = { authorization: `Bearer ${await issuer.token()}`, connection: 'close' }
  for (let call = 0; call < 100 && found.size < wanted; call++) {
    const response = await fetch(`${url}/v1/clientLocations`, { method: 'POST', headers })
    expect(response.status).toBe(200)
    found.add(((await response.json()) as { readonly process: number }).process)
  }
  return found
}

test('two workers answer behind one port; one that dies is replaced, and the end is clean', async () => {
  await using running = start(2)
  const workers = [await running.nextWorker(), await running.nextWorker()]
  const { url = '' } = workers[0] ?? {}
  expect(workers[1]?.url).toBe(url)
  const pids = new Set(workers.map(({ pid }) => pid))
  expect(await processesAnswering(url, 2)).toEqual(pids)
  // Each worker has one key: they are not added up.
  expect(await running.metrics()).toContain('portcullis_keys_usable{source="main"} 1\n')
  expect(await running.metrics()).toMatch(
    /^portcullis_key_attempts_total\{source="main",trigger="\w+",outcome="success"\} 2$/m,
  )
  expect((await fetch(`${url}/livez`)).status).toBe(200)

  const [victim = 0] = pids
  process.kill(victim, 'SIGKILL')
  const replacement = await running.nextWorker()
  expect(pids.has(replacement.pid)).toBe(false)
  expect(await processesAnswering(url, 2)).toContain(replacement.pid)

  running.child.kill('SIGTERM')
  expect(await once(running.child, 'exit')).toEqual([0, null])
})

test('a worker shows its metrics and becomes ready', async () => {
  await using running = start(1)
  const { url } = await running.nextWorker()
  const statuses: number[] = []
  while (statuses.at(-1) !== 200 && statuses.length < 100) {
    statuses.push((await fetch(`${url}/readyz`)).status)
  }
  expect(statuses.at(-1)).toBe(200)
  const text = await (await fetch(`${url}/metrics`)).text()
  expect(text).toContain('portcullis_keys_usable{source="main"} 1')
  expect(await (await fetch(`${url}/status`)).json()).toMatchObject({
    keys: { main: { freshness: 'fresh' } },
  })
})
