import type { TokenClient } from '@portcullis/client'
import ky, { type AfterResponseHook } from 'ky'

// `fetch` drops the token, and repeats what has no body; a body only ky can send again.
const repeat: AfterResponseHook = ({ request, response, retryCount }) => {
  const isRefused = response.status === 401 && request.body !== null && retryCount === 0
  return isRefused ? ky.retry({ delay: 0 }) : undefined
}

export const kyWith = ({ fetch }: TokenClient, origin: string) =>
  ky.create({ prefix: origin, fetch, hooks: { afterResponse: [repeat] } })
