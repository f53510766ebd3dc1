import { cpus, loadavg } from 'node:os'

/** What the figures of a run come from. */
export function describeMachine(): string {
  const models = cpus().map(({ model }) => model.trim())
  const [model = 'unknown processor'] = models
  const { versions, version } = process
  const [load = 0] = loadavg()
  const date = new Date().toISOString().slice(0, '2026-01-01'.length)
  return `Node ${version}, OpenSSL ${versions.openssl}, ${models.length} x ${model}; ${date}, load ${load.toFixed(1)}.`
}
