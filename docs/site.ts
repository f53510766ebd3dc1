import { join } from 'node:path'

import { buildSite } from './build.ts'
import { entriesOf } from './entries.ts'
import { brokenLinks, faultsOfPages } from './page-rules.ts'
import { documentsOf, faultsOfSections, pagesOf } from './pages.ts'
import { referenceOf } from './reference.ts'

// The site, in docs/site: `pnpm run docs`. Every page is made of a Markdown document of the repository, or by typedoc of the
// sources. A document that has no place, a wrong comment in a source and a link that leads nowhere make it fail.

const SITE = join(import.meta.dirname, 'site')

const faults = faultsOfSections(documentsOf())
if (faults.length > 0) {
  console.error(faults.join('\n'))
  process.exit(1)
}
const documents = pagesOf()
const pages = await buildSite(SITE, documents, await referenceOf(documents, entriesOf()))
const wrong = [...brokenLinks(SITE), ...faultsOfPages(SITE)]
for (const fault of wrong) console.error(fault)
if (wrong.length > 0) process.exitCode = 1
else
  console.log(`docs/site/index.html: ${pages.length} pages, ${documents.length} of them documents`)
