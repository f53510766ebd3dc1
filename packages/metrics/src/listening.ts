import { channel } from 'node:diagnostics_channel'

// Listens to diagnostics channels of the process. Node throws what a listener throws where nobody catches it, and the process ends.

export type Listener = (message: unknown) => void

/**
 * A listener that fails, such as by the tracer or the meter that it was given, is a warning, and nothing else.
 *
 * @param listeners By the names of channels.
 * @returns A function that ends it.
 */
export function listenTo(
  listeners: readonly (readonly [name: string, listen: Listener])[],
): () => void {
  const all = listeners.map(([name, listen]) => [name, harmless(listen)] as const)
  for (const [name, listen] of all) channel(name).subscribe(listen)
  return () => {
    for (const [name, listen] of all) channel(name).unsubscribe(listen)
  }
}

function harmless(listen: Listener): Listener {
  return (message) => {
    try {
      listen(message)
    } catch (fault) {
      process.emitWarning(fault instanceof Error ? fault : 'a listener of metrics failed')
    }
  }
}
