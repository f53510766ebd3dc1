import type { TokenClient } from '@portcullis/client'
import axios, { isAxiosError } from 'axios'

export function axiosWith(tokens: TokenClient, origin: string) {
  // An absolute URL would take the token elsewhere; the JSON of an error would have it in its headers.
  const api = axios.create({ baseURL: origin, allowAbsoluteUrls: false, redact: ['authorization'] })
  api.interceptors.request.use(async (config) => {
    config.headers.setAuthorization(await tokens.getAuthorization())
    return config
  })
  api.interceptors.response.use(undefined, async (error: unknown) => {
    if (!isAxiosError(error) || error.response?.status !== 401 || !error.config) throw error
    const { headers } = error.config
    tokens.invalidate(String(headers.getAuthorization()))
    headers.setAuthorization(await tokens.getAuthorization())
    return await axios.request(error.config) // without these interceptors: once
  })
  return api
}
