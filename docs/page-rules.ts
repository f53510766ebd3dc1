import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

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
