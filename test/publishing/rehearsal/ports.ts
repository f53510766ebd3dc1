import { subscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:net'

// Imported before an example that takes any free port: prints which one that is.

subscribe('tracing:net.server.listen:asyncEnd', (message) => {
  const address = (message as { readonly server: Server }).server.address() // by the documents of Node
  if (typeof address === 'object' && address !== null) console.log(address.port)
})
