import { readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'

import { type Served, serve } from '../../bound-tokens/serve.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.md': 'text/markdown; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
}

/** Serves the files of a site as any host of files does: a folder is its `index.html`. */
export async function servingFiles(site: string): Promise<Served> {
  return await serve(() => (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site.test')
    const path = join(site, pathname)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat?.isDirectory() === true && !pathname.endsWith('/')) {
      response.writeHead(301, { location: `${pathname}/` }).end()
      return
    }
    const file = stat?.isDirectory() === true ? join(path, 'index.html') : path
    const type = TYPES[extname(file)]
    if (stat === undefined || type === undefined) response.writeHead(404).end()
    else response.writeHead(200, { 'content-type': type }).end(readFileSync(file))
  })
}
