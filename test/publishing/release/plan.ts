import { ADDRESS_FIELDS, addressOf } from './address.ts'

// What a release would publish: decided here from the manifests, and carried out by release.ts.

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly homepage?: unknown
  readonly bugs?: unknown
  readonly repository?: { readonly url?: string; readonly directory?: string }
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

export interface Release {
  readonly version: string
  /** What `npm install NAME` takes is `latest`; a version such as 1.0.0-rc.0 goes under `rc`. */
  readonly distTag: string
  readonly gitTag: string
  /** Who is depended on comes before who depends on it, so that nobody can install half of a release. */
  readonly order: readonly string[]
}

/** @throws Error if the manifests are not of one release. */
export function planRelease(manifests: readonly Manifest[]): Release {
  const versions = new Set(manifests.map(({ version }) => version))
  const [version = '', ...others] = versions
  if (others.length > 0) throw new Error(`one family, one version, not ${[...versions].join(', ')}`)
  return { version, distTag: distTagOf(version), gitTag: `v${version}`, order: inOrder(manifests) }
}

function distTagOf(version: string): string {
  const [, prerelease = 'latest'] = /^\d+\.\d+\.\d+(?:-([a-z]+)\.\d+)?$/.exec(version) ?? []
  if (prerelease === 'latest' && !/^\d+\.\d+\.\d+$/.test(version)) {
    throw new Error(`${version} is neither a version such as 1.2.3 nor one such as 1.2.3-rc.0`)
  }
  return prerelease
}

function inOrder(manifests: readonly Manifest[]): readonly string[] {
  const rest = new Map(manifests.map((each) => [each.name, each]))
  const order: string[] = []
  while (rest.size > 0) {
    const next = [...rest.values()]
      .filter(({ dependencies, peerDependencies }) => {
        const needed = Object.keys({ ...dependencies, ...peerDependencies })
        return !needed.some((name) => rest.has(name))
      })
      .map(({ name }) => name)
      .toSorted()
    if (next.length === 0) throw new Error(`a circle: ${[...rest.keys()].join(', ')}`)
    for (const name of next) rest.delete(name)
    order.push(...next)
  }
  return order
}

/** What stands in the way of publishing this packed manifest, in words. */
export function obstaclesOf(packed: Manifest): readonly string[] {
  const { name, version, dependencies, peerDependencies, optionalDependencies } = packed
  const missing = ADDRESS_FIELDS.filter((field) => packed[field] === undefined)
  const ranges = [dependencies, peerDependencies, optionalDependencies]
    .flatMap((each) => Object.entries(each ?? {}))
    .filter(([, range]) => /^(?:workspace|catalog|link|file):/.test(range))
    .map(([dependency, range]) => `${name} depends on ${dependency} by "${range}"`)
  return [
    ...(packed.private === true ? [`${name} is private`] : []),
    ...(version === '0.0.0' ? [`${name} has no version yet`] : []),
    ...(missing.length === 0
      ? []
      : [`${name} does not say its ${missing.join(', ')}: run release repository`]),
    ...ranges,
  ]
}

/**
 * What says another repository than the one whose workflow publishes. npm would refuse its provenance, after other packages
 * had been published.
 *
 * @param name Such as `acme/guards`.
 */
export function foreignTo(name: string, manifests: readonly Manifest[]): readonly string[] {
  return manifests
    .filter(({ repository: { url, directory = '' } = {} }) => {
      return url !== addressOf(name, directory).repository.url
    })
    .map((each) => `${each.name} says another repository than ${name}: ${each.repository?.url}`)
}

/** Whether this npm can publish without a token. */
export function canTrust(npmVersion: string): boolean {
  const [major = 0, minor = 0, patch = 0] = npmVersion.split('.').map(Number)
  return major > 11 || (major === 11 && (minor > 5 || (minor === 5 && patch >= 1)))
}
