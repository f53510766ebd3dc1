import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

// What holds for every page of the site, whatever its text brings: it loads little, it loads nothing of others, and nothing in it
// is against its policy.

/** What a page loads, with its pictures. Bytes. The search is loaded when it is opened. */
const MOST = 300_000

const FORBIDDEN = /<style|<script(?! (?:type="module" )?src=)|<[a-z][^<>]* (?:style|on[a-z]+)=/g

/** What is wrong with the pages of a site. */
export function faultsOfPages(site: string): readonly string[] {
  return globSync('**/*.html', { cwd: site }).flatMap((page) =>
    faultsOf(site, page).map((fault) => `${page} ${fault}`),
  )
}

function faultsOf(site: string, page: string): readonly string[] {
  const html = readFileSync(join(site, page), 'utf8')
  const loaded = loadedBy(html)
  const size = loaded
    .map((link) => join(site, dirname(page), decodeURI(link)))
    .map((path) => (existsSync(path) ? statSync(path).size : 0))
    .reduce((sum, each) => sum + each, Buffer.byteLength(html))
  const foreign = loaded.filter((link) => /^(?:[a-z][a-z\d+.-]*:|\/\/)/i.test(link))
  return [
    ...(size > MOST ? [`loads ${size} bytes, more than ${MOST}`] : []),
    ...foreign.map((link) => `loads ${link}, which is of others`),
    ...(html.match(FORBIDDEN) ?? []).map((found) => `has ${found}, which the policy forbids`),
    ...(html.includes('http-equiv="Content-Security-Policy"') ? [] : ['has no policy']),
  ]
}

/** What a browser fetches to show a page. */
function loadedBy(html: string): readonly string[] {
  const sources = html.matchAll(/<(?:script|img)\b[^>]*? src="([^"]*)"/g)
  const styles = html.matchAll(/<link rel="(?:stylesheet|icon)" href="([^"]*)"/g)
  return [...new Set([...sources, ...styles].map(([, link = '']) => link))]
}

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
