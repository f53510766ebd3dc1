import type { TokenClient } from '@portcullis/client'
import got, { type AfterResponseHook, type BeforeRequestHook } from 'got'

export function gotWith(tokens: TokenClient, apiUrl: string) {
  const { origin } = new URL(apiUrl) // the hook runs for each redirect, too
  const present: BeforeRequestHook = async ({ url, headers }) => {
    if (url?.origin === origin) headers['authorization'] = await tokens.getAuthorization()
  }
  const repeat: AfterResponseHook = (response, retryWithMergedOptions) => {
    if (response.statusCode !== 401) return response
    tokens.invalidate(String(response.request.options.headers['authorization']))
    return retryWithMergedOptions({})
  }
  const hooks = { beforeRequest: [present], afterResponse: [repeat] }
  return got.extend({ prefixUrl: apiUrl, hooks })
}
