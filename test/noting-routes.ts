import { channel, type ChannelListener } from 'node:diagnostics_channel'

import { noteRoutes } from '@portcullis/fastify/routes'

/** Notes the routes of the applications of Fastify that are made meanwhile: it tells of each before that has a route. */
export async function notingRoutes<Result>(make: () => Promise<Result>): Promise<Result> {
  const made = channel('fastify.initialization')
  made.subscribe(note)
  try {
    return await make()
  } finally {
    made.unsubscribe(note)
  }
}

const note: ChannelListener = (message) => {
  noteRoutes((message as { fastify: object }).fastify)
}
