import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** The links between the pages of a site that lead to no page, or to no place on it. Those to other sites are not followed. */
export function brokenLinks(site: string): readonly string[] {
  const idsOf = new Map<string, ReadonlySet<string>>()
  const pages = globSync('**/*.html', { cwd: site })
  // A link to a picture may lead to a part of it.
  for (const page of [...pages, ...globSync('**/*.svg', { cwd: site })])
    idsOf.set(page, new Set(valuesOf(site, page, 'id')))
  return pages.flatMap((page) =>
    [...new Set(['href', 'src'].flatMap((name) => valuesOf(site, page, name)))]
      .filter((link) => !/^[a-z][a-z\d+.-]*:/i.test(link))
      .filter((link) => {
        const [file = '', anchor] = decodeURIComponent(link).split('#')
        const target = file === '' ? page : relative(site, join(site, dirname(page), file))
        if (!existsSync(join(site, target))) return true
        return anchor !== undefined && anchor !== '' && idsOf.get(target)?.has(anchor) !== true
      })
      .map((link) => `${page} links to ${link}`),
  )
}

function valuesOf(site: string, page: string, name: string): readonly string[] {
  const html = readFileSync(join(site, page), 'utf8')
  return [...html.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g'))].map(([, value = '']) =>
    value.replaceAll('&amp;', '&'),
  )
}
