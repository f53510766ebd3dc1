export interface LockedPackage {
  /** `name@version` */
  readonly identity: string
  /** Whether only optional dependencies need it: an install on another platform may leave it out. */
  readonly isOptional: boolean
  /** The values of `os`, `cpu` and `libc`, where it is limited to some. */
  readonly platforms: Readonly<Record<string, readonly string[]>>
}

/** The packages that a pnpm lockfile of version 9 names, for all platforms. */
export function readLockfile(text: string): readonly LockedPackage[] {
  const snapshots = entriesOf(text, 'snapshots')
  return entriesOf(text, 'packages').map(({ key, body }) => {
    // A package has a snapshot for each set of its peers, which follow its identity in brackets.
    const own = snapshots.filter((each) => each.key.replace(/\(.*/, '') === key)
    return {
      identity: key,
      isOptional: own.length > 0 && own.every((each) => /^ {4}optional: true$/m.test(each.body)),
      platforms: Object.fromEntries(
        [...body.matchAll(/^ {4}(os|cpu|libc): \[(.*)\]$/gm)].map(([, name = '', values = '']) => [
          name,
          values.split(', '),
        ]),
      ),
    }
  })
}

interface Entry {
  readonly key: string
  readonly body: string
}

function entriesOf(text: string, section: string): readonly Entry[] {
  const sections = text.split(/^(?=\S)/m)
  const content = sections.find((each) => each.startsWith(`${section}:\n`)) ?? ''
  return content.split(/^(?= {2}\S)/m).flatMap((body) => {
    const [, quoted, plain] = /^ {2}(?:'([^']+)'|(\S+?)):(?: \{\})?$/m.exec(body) ?? []
    const key = quoted ?? plain
    return key === undefined ? [] : [{ key, body }]
  })
}
