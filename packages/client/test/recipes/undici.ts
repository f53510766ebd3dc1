import type { TokenClient } from '@portcullis/client'
import { type Dispatcher, Pool } from 'undici'

export function undiciWith(tokens: TokenClient, origin: string) {
  const api = new Pool(origin)
  return async (path: string, options: { method: string; body?: string }) => {
    const send = async (token: string): Promise<Dispatcher.ResponseData> =>
      await api.request({ ...options, path, headers: { authorization: `Bearer ${token}` } })
    const token = await tokens.get()
    const response = await send(token)
    if (response.statusCode !== 401) return response
    tokens.invalidate(token)
    await response.body.dump()
    return await send(await tokens.get())
  }
}
