import type { Page } from 'playwright-core'

/** Waits until the page hears of events. */
export async function isLive(page: Page): Promise<void> {
  await page.locator('#connection', { hasText: /^Live$/ }).waitFor()
}
