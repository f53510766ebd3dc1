import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// What a package says is published alone: the guides that it names are read in the repository, and on the site.

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Code, which is left as it is, or a link to a file. */
const LINK =
  /^( *)(?:`{3,}|~{3,})[\s\S]*?^\1(?:`{3,}|~{3,})$|`[^`\n]*`(?!\]\()|(?<!!)\[(?<shown>(?:`[^`]*`|\\.|[^\]`\\])*)\]\((?<target>(?![a-z]+:|#)[^)\s]+)\)/gm

/** Code of several lines, or the name of a document, which may be that of another package. */
const NAME =
  /^( *)(?:`{3,}|~{3,})[\s\S]*?^\1(?:`{3,}|~{3,})$|\[(?:`[^`]*`|\\.|[^\]`\\])*\]\([^)\s]+\)|`(?<document>(?:docs\/[a-z\d-]+|[A-Z-]+)\.md)(?<heading>#[\w-]+)?`(?<other> of `@portcullis\/(?<folder>[a-z]+)`)?/gm

/** The documents that are published with a package, from its folder. */
export function publishedWith(folder: string): readonly string[] {
  const manifest = readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8')
  const { files } = JSON.parse(manifest) as { readonly files: readonly string[] }
  return ['README.md', ...files.filter((file) => file.endsWith('.md'))]
}

/** A text without links to files: the words alone. */
export function withoutLinks(text: string): string {
  return text.replaceAll(LINK, (piece: string, ...rest: unknown[]) => {
    const { shown } = rest.at(-1) as Readonly<Record<string, string | undefined>>
    return shown ?? piece
  })
}

/** The sections of SECURITY.md that every package has. */
const IN_EACH = ['Reporting', 'What a release proves']

/** Of the whole SECURITY.md, what is published with each package beside core. */
export function inShort(security: string): string {
  const [, ...sections] = security.split(/^## /m)
  const own = sections.filter((text) => IN_EACH.includes(text.slice(0, text.indexOf('\n'))))
  if (own.length !== IN_EACH.length) throw new Error(`SECURITY.md lacks ${IN_EACH.join(' or ')}`)
  const more = 'What is promised, and what is not, is in `SECURITY.md` of `@portcullis/core`.\n'
  const texts = own.map((text) => `## ${text.trimEnd()}\n\n`)
  return `# Security\n\n${texts.join('')}${more}`
}

/**
 * The text of a published document with a link for each name of one that is not, in place of links to another repository.
 *
 * @param page Of the repository, such as https://github.com/acme/guards.
 */
export function withLinks(text: string, own: string, page: string): string {
  const before = /https:\/\/github\.com\/[\w.-]+\/[\w.-]+(?=\/blob\/HEAD\/packages\/)/g
  return text.replaceAll(before, page).replaceAll(NAME, (piece: string, ...rest: unknown[]) => {
    const groups = rest.at(-1) as Readonly<Record<string, string | undefined>>
    const { document, heading = '', other = '', folder = own } = groups
    if (document === undefined || !guidesOf(folder).includes(document)) return piece
    const url = `${page}/blob/HEAD/packages/${folder}/${document}${heading}`
    return `[\`${document}\`](${url})${other}`
  })
}

/** Its documents that are not published with it. */
function guidesOf(folder: string): readonly string[] {
  const published = new Set(publishedWith(folder))
  const documents = globSync(['*.md', 'docs/*.md'], { cwd: join(root, 'packages', folder) })
  return documents.filter((path) => !published.has(path))
}
