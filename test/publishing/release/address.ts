// Where the sources of a package are, as its manifest says it to npm and to those who read there.

export interface Address {
  readonly homepage: string
  readonly bugs: { readonly url: string }
  /** Provenance compares `url` with the repository whose workflow publishes. */
  readonly repository: { readonly type: 'git'; readonly url: string; readonly directory: string }
}

export const ADDRESS_FIELDS = ['homepage', 'bugs', 'repository'] as const

/**
 * @param url Such as https://github.com/acme/guards, since the workflows are those of GitHub.
 * @throws Error for anything else, and for the words that stand for the names in our documents: they could be somebody's.
 */
export function repositoryNamed(url = ''): string {
  const [, name] = /^https:\/\/github\.com\/([\w-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(url) ?? []
  if (name === undefined) {
    throw new Error(`expected a URL such as https://github.com/OWNER/NAME, got ${url || 'nothing'}`)
  }
  if (/^owner\/|\/name$/i.test(name)) {
    throw new Error(`put the names of your own repository in place of ${name}`)
  }
  return name
}

/** @param directory The folder of the package, from the root of the repository. */
export function addressOf(name: string, directory: string): Address {
  const page = `https://github.com/${name}`
  return {
    homepage: `${page}/tree/HEAD/${directory}#readme`,
    bugs: { url: `${page}/issues` },
    repository: { type: 'git', url: `git+${page}.git`, directory },
  }
}

/** The same text with a link to where vulnerabilities are reported, in place of one that it may have had. */
export function withReporting(text: string, name: string): string {
  const form = `["Report a vulnerability"](https://github.com/${name}/security/advisories/new)`
  const before = /\["Report a vulnerability"\]\([^)\s]*\)|"Report a vulnerability"/g
  return text.replaceAll(before, () => form)
}

/** The same manifest with an address, in place of one that it may have had. The fields stand where npm lists them. */
export function withAddress(
  manifest: Readonly<Record<string, unknown>>,
  { homepage, bugs, repository }: Address,
): Record<string, unknown> {
  const fields: readonly string[] = ADDRESS_FIELDS
  const entries = Object.entries(manifest)
    .filter(([field]) => !fields.includes(field))
    .flatMap((entry): [string, unknown][] =>
      entry[0] === 'license'
        ? [['homepage', homepage], ['bugs', bugs], entry, ['repository', repository]]
        : [entry],
    )
  return Object.fromEntries(entries)
}
