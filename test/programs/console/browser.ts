import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'

import { describeWith } from '../../describe-with.ts'
import { BROWSER, BROWSER_LIMIT, launchOptions } from './launch.ts'

/** Tests with a real browser. */
export const describeWithBrowser = describeWith(BROWSER)

/** A page, and everything that went wrong in it. */
export interface Visit extends AsyncDisposable {
  readonly page: Page
  /** Errors of scripts and of the console, violations of the policy, and requests to other origins. */
  readonly wrong: readonly string[]
}

const REPORT = `document.addEventListener('securitypolicyviolation', (event) => {
  console.error('violates ' + event.violatedDirective + ': ' + event.blockedURI)
})`

/** One browser for all tests of a suite. */
export function useBrowser(...args: readonly string[]) {
  let browser: Browser | undefined
  beforeAll(async () => {
    browser = await chromium.launch(launchOptions(...args))
  })
  afterAll(async () => {
    await browser?.close()
  })

  return async (url: string, options: BrowserContextOptions = {}): Promise<Visit> => {
    if (browser === undefined) throw new Error('there is no browser yet')
    const context = await browser.newContext(options)
    context.setDefaultTimeout(BROWSER_LIMIT)
    await context.addInitScript(REPORT)
    const page = await context.newPage()
    const wrong: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error') wrong.push(message.text())
    })
    page.on('pageerror', (error) => wrong.push(String(error)))
    page.on('dialog', (dialog) => {
      wrong.push(`a dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== new URL(url).origin) wrong.push(request.url())
    })
    await page.goto(url)
    return {
      page,
      wrong,
      [Symbol.asyncDispose]: async () => {
        await context.close()
      },
    }
  }
}

/** @param but What the test itself has caused. */
export function expectNothingWrong({ wrong }: Visit, but?: RegExp): void {
  expect(wrong.filter((each) => but?.test(each) !== true)).toEqual([])
}

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** What axe finds wrong with a page. */
export async function findings(page: Page): Promise<unknown> {
  // The policy of the page lets no tag load it.
  await page.evaluate(readFileSync(AXE, 'utf8'))
  return await page.evaluate(`axe.run(document).then(({ violations }) =>
    violations.map(({ id, nodes }) => [id, ...nodes.map(({ html, failureSummary }) => html + failureSummary)]))`)
}
