import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { until } from '../redis/waiting.ts'

// Debian's Prometheus as a process of its own, with the alarms of the package in fast time.

export const ALERTS = new URL('../../../packages/metrics/alerts.yml', import.meta.url)

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 }

/** Rules whose durations are shorter: `for: 5m` and `[5m]` are 7500 ms at a speed of 40. */
export function fastRules(rules: string, speed: number): string {
  return rules.replaceAll(
    /(?<=for: |\[)(\d+)([smh])\b/g,
    (_duration, count: string, unit: string) =>
      `${Math.round((Number(count) * (UNITS[unit] ?? NaN) * 1000) / speed)}ms`,
  )
}

/** The names of the alarms, in their order. */
export function alarmsOf(rules: string): readonly string[] {
  return [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name)
}

export interface Prometheus extends AsyncDisposable {
  /** The names of the alarms that fire now. */
  firing(): Promise<ReadonlySet<string>>
}

/** @param target The port of the metrics. */
export async function startPrometheus(target: number, speed: number): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-prometheus-'))
  writeFileSync(join(folder, 'alerts.yml'), fastRules(readFileSync(ALERTS, 'utf8'), speed))
  const config = {
    global: { scrape_interval: '250ms', scrape_timeout: '250ms', evaluation_interval: '250ms' },
    rule_files: ['alerts.yml'],
    scrape_configs: [{ job_name: 'api', static_configs: [{ targets: [`127.0.0.1:${target}`] }] }],
  }
  // JSON is YAML.
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config))
  const port = await freePort()
  const child = spawn(
    'prometheus',
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  )
  const exited = once(child, 'exit')
  const url = `http://127.0.0.1:${port}`
  const isReady = async () => (await fetch(`${url}/-/ready`)).ok
  await until('Prometheus is ready', async () => await isReady().catch(() => false))
  return {
    async firing() {
      const answer = (await (await fetch(`${url}/api/v1/alerts`)).json()) as Alerts
      const names = answer.data.alerts.flatMap(({ state, labels }) =>
        state === 'firing' ? [labels.alertname] : [],
      )
      return new Set(names)
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface Alerts {
  readonly data: {
    readonly alerts: readonly {
      readonly state: string
      readonly labels: { readonly alertname: string }
    }[]
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
