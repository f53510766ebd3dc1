import { redisReplays, redisRevocations } from '@portcullis/redis'

// A Worker for ended-requests.ts beside the folder: what keeps a connection must say where it is made that none is kept here.

function complaintOf(making: () => unknown): string {
  try {
    making()
    return 'none'
  } catch (error) {
    return String(error)
  }
}

const url = 'redis://127.0.0.1'
const complaints = {
  redisRevocations: complaintOf(() => redisRevocations({ url })),
  redisReplays: complaintOf(() => redisReplays({ url })),
}

export default { fetch: () => Response.json(complaints) }
