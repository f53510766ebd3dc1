import { existsSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'

import { root } from './entries.ts'
import type { Page } from './pages.ts'

// Links between documents, which are paths in the repository, as links between pages of the site.

/** What a page is on the site: for people or for programs. */
export type Ending = '.html' | '.md'

/** Links of one page to others, and what it shows beside them. */
export interface Links {
  /** Its text with the links of the site. What is not on the site is not linked. */
  readonly text: string
  /** Files that it shows or links to, from the root of the repository. */
  readonly files: readonly string[]
}

/** A piece of code, which is left as it is, or a link or a picture. What names a document, a package or an example may be a link of its own. */
const PIECE =
  /(?<code>^( *)(?:`{3,}|~{3,})[\s\S]*?^\2(?:`{3,}|~{3,})$)|(?<mark>!?)\[(?<shown>(?:`[^`]*`|\\.|[^\]`\\])*)\]\((?<target>[^)\s]+)\)|`(?<own>(?:docs\/[a-z\d-]+|[A-Z-]+)\.md)(?<place>#[\w-]+)?`(?! of )|(?:`(?<guide>(?:docs\/[a-z\d-]+|[A-Z-]+)\.md)(?<heading>#[\w-]+)?` of )?`(?<module>@portcullis\/[\w/-]+)`|`(?<example>examples\/[\w/.-]+)`|(?<readme>README of the repository)|`[^`\n]*`/gm

/** What a link shows that only says which file it leads to. On the site a page has no file name, but a title. */
const FILE_NAME = /^`?[A-Z-]+\.md`?$/

export function relinked(page: Page, pages: ReadonlyMap<string, Page>, ending: Ending): Links {
  const files: string[] = []
  const text = page.text.replaceAll(PIECE, (piece: string, ...rest: unknown[]) => {
    const groups = rest.at(-1) as Readonly<Record<string, string | undefined>>
    const isInHeading = page.text
      .slice(0, rest.at(-3) as number)
      .split('\n')
      .at(-1)
      ?.startsWith('#')
    const { mark, shown, target, own, place = '', module, example, readme } = groups
    const { guide, heading = place } = groups
    const document = guide ?? own
    if (target !== undefined) {
      const found = resolved(target)
      if (found === undefined) return shown ?? ''
      const title = FILE_NAME.test(shown ?? '') ? linkedPage(target)?.title : undefined
      return `${mark}[${title ?? shown}](${found})`
    }
    const pointed =
      module === undefined
        ? (example ?? (own && named(own)) ?? (readme && 'README.md'))
        : ofModule(module, guide)
    if (pointed === undefined) return piece
    // A CHANGELOG is made at a release.
    if (document !== undefined && document !== 'CHANGELOG.md') mustExist(pointed, piece)
    if (isInHeading || pointed === page.path || !pages.has(pointed)) return piece
    const words = document === undefined ? piece : pages.get(pointed)?.title
    return `[${words}](${resolved(`/${pointed}${heading}`)})`
  })
  return { text, files }

  function pathTo(file: string): string {
    return file.startsWith('/')
      ? file.slice(1)
      : published(posix.join(page.base ?? posix.dirname(page.path), file))
  }

  /** A document by the name that it has in its package or, of a page of no package, in the repository. */
  function named(document: string): string {
    const [, folder] =
      /^(?:packages|docs\/\.reference\/pages\/@portcullis)\/([a-z]+)\b/.exec(
        page.base ?? page.path,
      ) ?? []
    return folder === undefined ? document : published(`packages/${folder}/${document}`)
  }

  function mustExist(path: string, written: string): void {
    if (path.startsWith('..') || !existsSync(join(root, path)))
      throw new Error(`${page.path} leads to ${written}, which is not there`)
  }

  function linkedPage(target: string): Page | undefined {
    const [file = ''] = decodeURI(target).split('#')
    if (file === '') return undefined
    return pages.get(pathTo(file)) ?? pages.get(posix.join(pathTo(file), 'README.md'))
  }

  /** @param target A link in the repository; `/` is its root. */
  function resolved(address: string): string | undefined {
    // What a published document says of the repository is on the site as well.
    const target = address.replace(/^https:\/\/github\.com\/[\w.-]+\/[\w.-]+\/blob\/HEAD(?=\/)/, '')
    if (/^[a-z][a-z\d+.-]*:/i.test(target)) return target
    const own = pages.get(page.path)
    // The first page shows parts of another one.
    if (target.startsWith('#') && (own === undefined || own.address === page.address)) return target
    const [file = '', anchor] = decodeURI(target).split('#')
    const path = file === '' ? page.path : pathTo(file)
    const linked = file === '' ? own : linkedPage(target)
    if (linked !== undefined) {
      return `${pathBetween(page.address, `${linked.address}${ending}`)}${anchor === undefined ? '' : `#${anchor}`}`
    }
    mustExist(path, address)
    // Sources and folders are read where they are.
    if (/\.(?:[cm]?[jt]s|md)$/.test(path) || statSync(join(root, path)).isDirectory())
      return undefined
    files.push(path)
    return pathBetween(page.address, fileAddress(path))
  }
}

/** Each tarball has the SECURITY.md of the repository: its copy is made by `pnpm build`. */
function published(path: string): string {
  return path.replace(/^packages\/[a-z]+\/(?=SECURITY\.md$)/, '')
}

/** Where a file is on the site that pages show or link to. */
export function fileAddress(path: string): string {
  return `files/${path}`
}

/** The relative link from one page to another: the site works below any address. */
export function pathBetween(from: string, to: string): string {
  return posix.relative(posix.dirname(from), to)
}

/** The document of a package that a text names, which is published without the others and so cannot link to them. */
function ofModule(module: string, guide = 'README.md'): string {
  const [, name = '', entry] = module.split('/')
  return entry === undefined
    ? `packages/${name}/${guide}`
    : `docs/.reference/pages/@portcullis/${name}/${entry}/index.md`
}
