import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'

// One process of a server that listens on a port, and ends with the process that started it.

export interface Running {
  readonly port: number
  readonly child: ChildProcess
  /** Ends the server when this process ends, however it ends. */
  readonly guard: ChildProcess
}

/**
 * Starts a server, and waits until it prints that it is ready.
 *
 * @param folder Its own, which is removed with it.
 * @returns Nothing, if the port is taken.
 */
export async function run(
  program: string,
  args: readonly string[],
  {
    port,
    folder,
    ready,
  }: { readonly port: number; readonly folder: string; readonly ready: RegExp },
): Promise<Running | undefined> {
  const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] })
  await once(child, 'spawn')
  const script = 'read -r line; kill -9 "$0"; rm -rf "$1"'
  const guard = spawn('sh', ['-c', script, String(child.pid), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  let printed = ''
  for await (const line of createInterface({ input: child.stdout ?? [] })) {
    printed += `${line}\n`
    if (ready.test(line)) {
      // A pipe that nobody reads fills up, and then the server waits for us.
      child.stdout?.resume()
      return { port, child, guard }
    }
  }
  guard.kill('SIGKILL')
  if (/already in use|Failed listening/.test(printed)) return undefined
  throw new Error(`${program} has ended:\n${printed}`)
}

/** SIGKILL. */
export async function end({ child, guard }: Running): Promise<void> {
  const gone = once(child, 'exit')
  // First the guard: afterwards the number may be another process's.
  guard.kill('SIGKILL')
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await gone
}

/** Starts one on a free port. Somebody else may take a port before the server does. */
export async function runOnFreePort(
  start: (port: number) => Promise<Running | undefined>,
): Promise<Running> {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const running = await start(await freePort())
    if (running !== undefined) return running
  }
  throw new Error('no free port for a server')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
