import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

// A registry for the packages of one scope, in memory and on the loopback: what npm, pnpm, Yarn and Bun ask of one when they publish and
// install. As everywhere, a version is never replaced, and the first one of a package is `latest`, whatever its tag.

export interface Registry extends AsyncDisposable {
  readonly url: string
  /** Who sends it may publish. */
  readonly token: string
  /** What was published, such as `@acme/guards@1.0.0`, in this order. */
  readonly published: readonly string[]
}

interface Version {
  readonly version: string
  readonly dist: { readonly integrity: string; readonly tarball: string }
}

/** What is known of a package. `npm publish` sends the same of one version, with its tarball. */
interface Packument {
  readonly name: string
  readonly 'dist-tags': Readonly<Record<string, string>>
  readonly versions: Readonly<Record<string, Version>>
  readonly time: Readonly<Record<string, string>>
}

interface Publication extends Packument {
  readonly _attachments: Readonly<Record<string, { readonly data: string }>>
}

/** A tarball, or what is sent as JSON. */
type Answer = readonly [status: number, body: object]

const NOT_FOUND: Answer = [404, { error: 'not found' }]

/** @param scope Such as `@acme`. */
export async function startRegistry(scope: string): Promise<Registry> {
  const token = randomUUID()
  const packuments = new Map<string, Packument>()
  const tarballs = new Map<string, Buffer>()
  const published: string[] = []

  async function answerTo(request: IncomingMessage): Promise<Answer> {
    const path = decodeURIComponent(new URL(request.url ?? '', url).pathname.slice(1))
    if (request.method === 'GET') return found(packuments.get(path) ?? tarballs.get(path))
    if (request.method !== 'PUT' || !path.startsWith(`${scope}/`)) return NOT_FOUND
    if (request.headers.authorization !== `Bearer ${token}`) return [401, { error: 'who are you?' }]
    return publish(path, (await json(request)) as Publication)
  }

  function publish(path: string, { name, versions, _attachments, ...sent }: Publication): Answer {
    const [version] = Object.values(versions)
    const [attachment] = Object.values(_attachments)
    if (name !== path || version === undefined || attachment === undefined)
      return [400, { error: 'expected one version of this package, with its tarball' }]
    const tarball = Buffer.from(attachment.data, 'base64')
    if (version.dist.integrity !== integrityOf(tarball))
      return [400, { error: 'the tarball is another one than its integrity says' }]
    const before = packuments.get(name)
    if (before?.versions[version.version] !== undefined)
      return [403, { error: `${name}@${version.version} is there, and stays as it is` }]
    const file = `${name}/-/${name.replace(`${scope}/`, '')}-${version.version}.tgz`
    tarballs.set(file, tarball)
    const dist = { ...version.dist, tarball: `${url}${file}` }
    packuments.set(name, {
      name,
      'dist-tags': { latest: version.version, ...before?.['dist-tags'], ...sent['dist-tags'] },
      versions: { ...before?.versions, [version.version]: { ...version, dist } },
      // Yarn and pnpm can be told to wait until a version has reached an age.
      time: { ...before?.time, [version.version]: new Date().toISOString() },
    })
    published.push(`${name}@${version.version}`)
    return [201, { ok: true }]
  }

  const server = createServer((request, response) => {
    const answering = answerTo(request).catch((error: unknown) => [400, { error: String(error) }])
    void answering.then(([status, body]) => {
      const isTarball = Buffer.isBuffer(body)
      response.statusCode = Number(status)
      response.setHeader('content-type', isTarball ? 'application/gzip' : 'application/json')
      response.end(isTarball ? body : JSON.stringify(body))
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`

  return {
    url,
    token,
    published,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function found(body: object | undefined): Answer {
  return body === undefined ? NOT_FOUND : [200, body]
}

function integrityOf(tarball: Buffer): string {
  return `sha512-${createHash('sha512').update(tarball).digest('base64')}`
}
