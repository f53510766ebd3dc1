import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'

import { describeWithBrowser, expectNothingWrong, findings, useBrowser } from './browser.ts'
import { play } from './history.ts'
import { isLive } from './live.ts'
import { serving } from './serving.ts'

describeWithBrowser('the console is for everybody', () => {
  const visit = useBrowser()

  // The colours do not depend on the width.
  test.each([
    { colorScheme: 'light', width: 390 },
    { colorScheme: 'dark', width: 1440 },
  ] as const)('axe finds nothing: $colorScheme, $width pixels', async ({ colorScheme, width }) => {
    await using service = await serving()
    await play(service)
    await using opened = await visit(service.url, {
      colorScheme,
      viewport: { width, height: 900 },
      reducedMotion: 'reduce',
    })
    const { page } = opened
    await isLive(page)
    expect(await findings(page)).toEqual([])
    for (const section of ['Keys', 'Faults', 'Session']) {
      await page.getByRole('link', { name: section, exact: true }).click()
      expect(await findings(page)).toEqual([])
    }
    await page.getByRole('link', { name: 'Token', exact: true }).click()
    // One that services accept, and one that they do not.
    for (const kind of ['', 'expired']) {
      await page.getByLabel('Kind').selectOption(kind)
      await page.getByRole('button', { name: 'Mint and explain' }).click()
      await page.locator('#outcome', { hasText: 'A token is minted and explained.' }).waitFor()
      expect(await findings(page)).toEqual([])
    }
    await page.getByRole('link', { name: 'Session', exact: true }).click()
    await page.getByRole('button', { name: 'Send the log-out token' }).click()
    await page.locator('#outcome.failure').waitFor()
    expect(await findings(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    expectNothingWrong(opened, /status of 400/)
  })

  test('everything can be reached and done with the keyboard alone', async () => {
    await using service = await serving()
    await using opened = await visit(service.url)
    const { page } = opened
    await isLive(page)
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('To the panels')
    await page.keyboard.press('Enter')
    await reach(page, 'Publish late')
    await page.keyboard.press('Space')
    await page.locator('#outcome', { hasText: 'There is a new key.' }).waitFor()
    await reach(page, 'Finish the rotation')
    await page.keyboard.press('Enter')
    await page.locator('#outcome', { hasText: 'The rotation is finished.' }).waitFor()
    // There is nothing to finish any more, and the focus is beside it.
    await expect.poll(async () => await focused(page)).toBe('Roll back')
    await reach(page, 'Begin the fault')
    await page.keyboard.press('Enter')
    await page.locator('.faults li').waitFor()
    await page.getByLabel('A token, or a whole').focus()
    await page.keyboard.type('a.b.c')
    await reach(page, 'Explain')
    await page.keyboard.press('Enter')
    // What came of it has the focus, so that it is read next.
    await expect
      .poll(async () => await page.evaluate('document.activeElement.id'))
      .toBe('explain-result')
    expectNothingWrong(opened)
  })

  test('a focus can be seen in both colour schemes', async () => {
    await using service = await serving()
    for (const colorScheme of ['light', 'dark'] as const) {
      await using opened = await visit(service.url, { colorScheme })
      const { page } = opened
      await page.keyboard.press('Tab')
      for (let number = 0; number < 12; number++) {
        await page.keyboard.press('Tab')
        const outline = `(() => {
          const { activeElement: at } = document
          const shown = at.matches('.choice input') ? at.nextElementSibling : at
          return getComputedStyle(shown).outlineWidth
        })()`
        expect(await page.evaluate(outline)).toBe('3px')
      }
    }
  })
})

async function focused(page: Page): Promise<string> {
  const text = await page.evaluate('document.activeElement.textContent')
  return String(text).replaceAll(/\s+/g, ' ').trim()
}

/** Presses Tab until an element of that text has the focus. */
async function reach(page: Page, text: string): Promise<void> {
  for (let number = 0; number < 100; number++) {
    await page.keyboard.press('Tab')
    if ((await focused(page)).startsWith(text)) return
  }
  throw new Error(`Tab does not reach ${text}`)
}
