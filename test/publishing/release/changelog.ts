// What `changeset version` writes into a CHANGELOG: the changesets as they are. Packages of one family have one version, so a
// list of dependencies that have it as well would tell nobody anything.

/** One entry of the list. */
export async function getReleaseLine({ summary }: { readonly summary: string }): Promise<string> {
  const [first = '', ...rest] = summary.trim().split('\n')
  return [`- ${first}`, ...rest.map((line) => (line === '' ? '' : `  ${line}`))].join('\n')
}

export async function getDependencyReleaseLine(): Promise<string> {
  return ''
}
