import type { Server } from 'node:http'

/** Milliseconds. Clients keep connections that they do not use. */
const LOOK = 250

/**
 * Ends a server: it takes no new connections, answers what has come, and closes each connection when it is idle. Requests that take
 * longer than `grace` (seconds) are cut off.
 *
 * @returns How many connections were cut off.
 */
export async function endGracefully(server: Server, grace: number): Promise<number> {
  return await new Promise((resolve) => {
    let cut = 0
    const looking = setInterval(() => {
      server.closeIdleConnections()
    }, LOOK)
    const waiting = setTimeout(() => {
      server.getConnections((_error, count) => {
        cut = count
        server.closeAllConnections()
      })
    }, grace * 1000)
    server.close(() => {
      clearInterval(looking)
      clearTimeout(waiting)
      resolve(cut)
    })
  })
}
