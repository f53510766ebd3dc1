import { manualClock } from '@portcullis/testing'

import { createControl } from '../../src/serve/control.ts'
import { createGate } from '../../src/serve/gate.ts'
import { createKeyKeeper, type KeyKeeper } from '../../src/serve/key-keeper.ts'
import { createService } from '../../src/serve/service.ts'
import { type Configuration, settingsOf } from '../../src/serve/settings.ts'

export interface Asking {
  readonly method?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Where the client is. */
  readonly address?: string
}

/** A service and its control interface, without a port. */
export async function setUp(
  configuration: Configuration = {},
  secret?: string,
  keeper: KeyKeeper = createKeyKeeper(undefined, () => undefined),
) {
  const clock = manualClock()
  const settings = settingsOf({}, configuration)
  const service = await createService(settings, clock, undefined, keeper, fetch)
  const control = createControl(service, createGate(secret))
  const end = new AbortController()
  /** Asks as a program on this machine does. */
  async function ask(path: string, asking: Asking = {}): Promise<Response> {
    const { body, method = body === undefined ? 'GET' : 'POST', headers } = asking
    const { address = '127.0.0.1' } = asking
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const request = new Request(`http://127.0.0.1/control/${path}`, {
      method,
      headers: { host: '127.0.0.1:4010', ...type, ...headers },
      body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    })
    const response = await control(request, end.signal, address)
    if (response === undefined) throw new Error(`${path} is not of the control interface`)
    return response
  }
  const post = async (path: string, body: unknown = {}) => await ask(path, { body })
  const state = async () => (await (await ask('state')).json()) as Record<string, unknown>
  return { clock, service, control, ask, post, state, end }
}
