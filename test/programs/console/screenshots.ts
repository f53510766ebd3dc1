import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { type BrowserContextOptions, chromium, type Page } from 'playwright-core'

import { play } from './history.ts'
import { launchOptions } from './launch.ts'
import { isLive } from './live.ts'
import { serving } from './serving.ts'

// Pictures of the console in both colour schemes and at three widths, with their heights, to be looked at: `node test/draw.ts console [folder]`.
// examples/README.md shows `readme.png`, as packages/cli/docs/console.png.

const [folder = join(import.meta.dirname, 'screenshots')] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })

await using service = await serving()
await play(service)
const { token } = await service.control('mint', {
  claims: { sub: 'ada', scope: 'locations:write' },
})
const browser = await chromium.launch(launchOptions())
try {
  await atTop(join(folder, 'readme.png'), { viewport: { width: 1180, height: 660 } })
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [390, 820, 1440]) {
      const options = { colorScheme, viewport: { width, height: 900 } }
      const page = await atTop(join(folder, `${colorScheme}-${width}-top.png`), options)
      await page.getByLabel('A token, or a whole').fill(`Authorization: Bearer ${String(token)}`)
      await page.getByRole('button', { name: 'Explain', exact: true }).click()
      await page.getByRole('heading', { name: 'Checks' }).waitFor()
      for (const section of ['Keys', 'Faults', 'Session', 'Token']) {
        await page.getByRole('link', { name: section, exact: true }).click()
        const path = join(folder, `${colorScheme}-${width}-${section.toLowerCase()}.png`)
        await page.screenshot({ path, fullPage: true })
        console.log(path, await page.evaluate('document.documentElement.scrollHeight'))
      }
      await page.close()
    }
  }
} finally {
  await browser.close()
}

/** The page as it is when it has been opened. */
async function atTop(path: string, options: BrowserContextOptions): Promise<Page> {
  const page = await browser.newPage(options)
  await page.goto(service.url)
  await isLive(page)
  await page.screenshot({ path })
  return page
}
