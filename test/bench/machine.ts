import { cpus } from 'node:os'

/** What the figures of a run come from. */
export function describeMachine(): string {
  const models = cpus().map(({ model }) => model.trim())
  const [model = 'unknown processor'] = models
  const { versions, version } = process
  return `Node ${version}, OpenSSL ${versions.openssl}, ${models.length} x ${model}.`
}
