import { match } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import { AUDIENCE, type IdentityProvider, ISSUER } from '../../documents/identity-provider.ts'
import { blocksOf } from '../../documents/markdown.ts'
import { run } from '../packed/report.ts'

// The commands that need no project, in an empty folder and as the first pages have them: `npx @portcullis/cli try`, `serve`, `mint` and
// `explain`.

const root = join(import.meta.dirname, '..', '..', '..')

/** The lines of the commands of a document that match, in their order. */
function linesOf(document: string, pattern: RegExp): readonly string[] {
  return blocksOf(readFileSync(join(root, document), 'utf8'))
    .filter(({ language }) => language === 'sh')
    .flatMap(({ code }) => code.split('\n'))
    .filter((line) => pattern.test(line))
}

/** @param folder Is made here: nothing is in it. */
export async function tryCommands(
  folder: string,
  env: NodeJS.ProcessEnv,
  provider: IdentityProvider,
): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const [trying = '', serving = '', minting = ''] = linesOf('README.md', /^npx @portcullis\/cli /)
  const [explaining = ''] = linesOf('packages/cli/README.md', /mint .*\| .*explain/)
  const [asking = ''] = linesOf('packages/express/README.md', /\| .*explain --discover/)
  const said = async (line: string, more: object = {}) =>
    (await run(['bash', '-c', line], folder, { ...env, ...more })).stdout

  // It takes a minute, and none of the others' ports.
  const minute = said(trying)
  await using _ = await started(serving, folder, env)
  match(await said(minting), /^eyJ[\w-]+\.[\w-]+\.[\w-]+\n$/)
  match(await said(explaining), /^REFUSED {2}expired /)
  const token = await provider.token({ claims: { aud: 'https://shop.example.com' } })
  const explained = await said(asking.replaceAll(ISSUER, provider.url), { TOKEN: token })
  match(explained, /^REFUSED {2}audience /)
  match(explained, new RegExp(`expected\\s+"${AUDIENCE}"`))
  match(await minute, /Portcullis[^]*jose/)
}

/** The token service, until the end of the block. */
async function started(line: string, folder: string, env: NodeJS.ProcessEnv) {
  await expectFree(4010)
  const child = spawn('bash', ['-c', line], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const complaints = text(child.stderr)
  const closed = once(child, 'close')
  const first = await Promise.race([once(child.stdout, 'data'), closed])
  if (child.exitCode !== null) throw new Error(`${line}: ${await complaints}`)
  child.stdout.resume()
  match(String(first[0]), /http:\/\/127\.0\.0\.1:4010/)
  return {
    async [Symbol.asyncDispose]() {
      // With what npx has started.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT')
      await closed
    },
  }
}

/** The documents name this port, so no other one will do. */
async function expectFree(port: number): Promise<void> {
  const server = createServer()
  await once(server.listen(port, '127.0.0.1'), 'listening').catch((cause: unknown) => {
    throw new Error(
      `end what listens at port ${port}: the commands are tried as they are written`,
      {
        cause,
      },
    )
  })
  server.close()
}
