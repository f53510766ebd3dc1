import { decodeJwt } from 'jose'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'

import { describeWithBrowser, expectNothingWrong, useBrowser, type Visit } from './browser.ts'
import { isLive } from './live.ts'
import { type Serving, serving } from './serving.ts'

/** Runs in the page. */
const IDS = (panels: readonly { readonly id: string }[]) => panels.map(({ id }) => id)

describeWithBrowser('the console', () => {
  const visit = useBrowser()

  /** The page of a service, with everything that has gone wrong. */
  async function open(service: Serving): Promise<Visit> {
    const opened = await visit(service.url, { permissions: ['clipboard-read', 'clipboard-write'] })
    await isLive(opened.page)
    return opened
  }

  test.each([
    {
      name: 'Publish first',
      left: 'the new key is published, and does not sign yet',
      words: ['published since', 'has not signed'],
    },
    {
      name: 'Publish late',
      left: 'the new key signs, and is not published yet',
      words: ['not published', 'signs since'],
    },
    {
      name: 'Publish both',
      left: 'the old key is still published beside the new one',
      words: ['published since', 'signs since'],
    },
  ])('$name: $left, until it is finished', async ({ name, left, words }) => {
    await using service = await serving()
    await using opened = await open(service)
    const { page } = opened
    const finish = page.getByRole('button', { name: 'Finish the rotation' })
    expect(await finish.count()).toBe(0)
    await page.getByRole('button', { name }).click()
    await said(page, 'There is a new key.')
    await expectKeys(page, 2)
    const newest = page.locator('.keys li').first()
    for (const word of words) await newest.filter({ hasText: word }).waitFor()
    await page.locator('#keys-now .notice', { hasText: left }).waitFor()
    await finish.click()
    await said(page, 'The rotation is finished.')
    await page.locator('#keys-now .notice').waitFor({ state: 'detached' })
    await finish.waitFor({ state: 'detached' })
    await newest.filter({ hasText: 'published since' }).filter({ hasText: 'signs since' }).waitFor()
    expectNothingWrong(opened)
  })

  test('a rotation at once, and its roll-back, are in the list of keys', async () => {
    await using service = await serving()
    await using opened = await open(service)
    const { page } = opened
    await expectKeys(page, 1)
    await service.clock.advance(30)
    await page.getByLabel('kid of the new key').selectOption('none')
    await page.getByRole('button', { name: 'Rotate at once' }).click()
    await expectKeys(page, 2)
    await page.locator('.keys li', { hasText: ', no kid' }).waitFor()
    await service.clock.advance(30)
    await page.getByRole('button', { name: 'Roll back' }).click()
    await said(page, 'The key before signs again.')
    await page.locator('.keys li', { hasText: 'signs since 08:01:00' }).waitFor()
    await page.locator('.keys li', { hasText: 'published until 08:01:00' }).waitFor()
    expectNothingWrong(opened)
  })

  test('a rotation finishes by itself, if it is told when; one at once has nothing to finish', async () => {
    await using service = await serving()
    await using opened = await open(service)
    const { page } = opened
    await page.getByLabel('Its second half').selectOption('by itself after 30 s')
    await page.getByRole('button', { name: 'Rotate at once' }).click()
    await expectKeys(page, 2)
    const finish = page.getByRole('button', { name: 'Finish the rotation' })
    expect(await finish.count()).toBe(0)
    await page.getByRole('button', { name: 'Publish late' }).click()
    await expectKeys(page, 3)
    await finish.waitFor()
    await page.locator('#keys-now .notice', { hasText: 'by itself in 30 s' }).waitFor()
    await service.clock.advance(30)
    await page.locator('#keys-now .notice').waitFor({ state: 'detached' })
    await page.locator('.keys li', { hasText: 'published since 08:00:30' }).waitFor()
    expectNothingWrong(opened)
  })

  test('what cannot be done is said, and why', async () => {
    await using service = await serving()
    await using opened = await open(service)
    await opened.page.getByRole('button', { name: 'Roll back' }).click()
    await said(opened.page, 'Not done: rollBack: there is no rotation to undo')
    expectNothingWrong(opened, /status of 400/)
  })

  test('a fault begins, shows, and ends', async () => {
    await using service = await serving()
    await using opened = await open(service)
    const { page } = opened
    const form = page.locator('form[data-form="fault"]')
    await form.getByRole('button', { name: 'Begin' }).click()
    await page.locator('.faults', { hasText: 'Key endpoint: 503, not available' }).waitFor()
    expect((await service.fetchKeys()).status).toBe(503)
    await form.getByLabel('Log-in').check()
    await form.getByLabel('What').selectOption('a web page instead')
    await form.getByLabel('How long').selectOption('for the next answer')
    await form.getByRole('button', { name: 'Begin' }).click()
    await page.locator('.faults', { hasText: 'once more' }).waitFor()
    expect((await service.logIn('demo', 'demo')).headers.get('content-type')).toContain('html')
    expect(await (await service.logIn('demo', 'demo')).text()).toMatch(/^eyJ/)
    await form.getByRole('button', { name: 'End all' }).click()
    await page.getByText('There is none').waitFor()
    expect((await service.fetchKeys()).status).toBe(200)
    expectNothingWrong(opened)
  })

  test('every kind of fault that can be chosen can begin', async () => {
    await using service = await serving()
    await service.control('rotate')
    await using opened = await open(service)
    const { page } = opened
    const form = page.locator('form[data-form="fault"]')
    const values = await form.locator('select[name="kind"] option').all()
    for (const value of values) {
      const kind = (await value.getAttribute('value')) ?? ''
      await service.control('fault', {
        endpoint: 'keys',
        kind: /^\d+$/.test(kind) ? Number(kind) : kind,
      })
    }
    await form.getByLabel('What').selectOption('a key of somebody else')
    await form.getByRole('button', { name: 'Begin' }).click()
    await said(page, 'The fault has begun.')
    expect(values.length).toBeGreaterThan(10)
    expectNothingWrong(opened)
  })

  test('a token is explained with the keys of now, and with those that a service has', async () => {
    await using service = await serving()
    await using opened = await open(service)
    const { page } = opened
    await service.fetchKeys()
    await service.clock.advance(10)
    const token = await (await service.logIn('demo', 'demo')).text()
    await explain(page, `Authorization: Bearer ${token}`)
    // Both services answer the same: that is one card.
    expect(await verdicts(page)).toEqual(['accepted'])
    await page.getByText('With the keys of now, and with those of 08:00:00').waitFor()
    await page.getByText('Read without: Authorization:, Bearer').waitFor()
    await page.getByText('Payload, proven', { exact: true }).waitFor()
    await page.locator('.finding', { hasText: 'signature' }).getByText('passed').waitFor()

    await service.clock.advance(10)
    await service.control('rotate')
    await explain(page, token)
    expect(await verdicts(page)).toEqual(['refused · 401', 'accepted'])
    await page.getByText('of this service, which is withdrawn').waitFor()
    await page.locator('.advice', { hasText: 'What to do: log in again' }).waitFor()

    await service.clock.advance(10)
    await service.control('rotate', { publish: 'later' })
    await explain(page, await (await service.logIn('demo', 'demo')).text())
    expect(await verdicts(page)).toEqual(['refused · 401'])
    await page.getByText('of this service, which is not yet published').waitFor()
    await page.locator('.advice', { hasText: 'What to do: publish the key that made it' }).waitFor()
    await page.getByText('Payload, not proven: anybody can write this').waitFor()
    expectNothingWrong(opened)
  })

  test('a token that is pasted is explained at once', async () => {
    await using service = await serving()
    await using opened = await open(service)
    const { page } = opened
    const { token } = await service.control('mint')
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(token)})`)
    await page.getByLabel('A token, or a whole').focus()
    await page.keyboard.press('ControlOrMeta+V')
    await said(page, 'The token is explained.')
    expect(await verdicts(page)).toEqual(['accepted'])
    expectNothingWrong(opened)
  })

  test('what a token says of its times is shown beside them', async () => {
    await using service = await serving()
    await using opened = await open(service)
    const { token } = await service.control('mint', { claims: { auth_time: 1_795_244_400 } })
    await explain(opened.page, String(token))
    const payload = opened.page.locator('.decoded pre').nth(1)
    await payload.getByText('// 2026-11-21T08:05:00Z, in 5 min').waitFor()
    await payload.getByText('// 2026-11-21T07:00:00Z, 1 h ago').waitFor()
    expectNothingWrong(opened)
  })

  test('a narrow page shows one section at a time, the token first, and stays short', async () => {
    await using service = await serving()
    await service.control('rotate')
    await using opened = await visit(service.url, { viewport: { width: 390, height: 844 } })
    const { page } = opened
    await isLive(page)
    const shown = async () => await page.locator('.panel:visible').evaluateAll(IDS)
    const height = async () => Number(await page.evaluate('document.documentElement.scrollHeight'))
    expect([await shown(), (await height()) <= 844]).toEqual([['explain'], true])
    for (const link of await page.locator('.sections a').all()) {
      await link.click()
      const id = (await link.getAttribute('href'))?.slice(1)
      expect([await shown(), await link.getAttribute('aria-current')]).toEqual([[id], 'true'])
      expect(await height()).toBeLessThan(1800)
    }
    expectNothingWrong(opened)
  })

  test.each([
    [390, 2],
    [820, 4],
    [1440, 4],
  ])('at %d pixels the kinds of rotations are %d in a row', async (width, inRow) => {
    await using service = await serving()
    await using opened = await visit(service.url, { viewport: { width, height: 900 } })
    const { page } = opened
    await page.getByRole('link', { name: 'Keys' }).click()
    const tiles = await page.locator('.tile').all()
    const tops = await Promise.all(tiles.map(async (tile) => (await tile.boundingBox())?.y))
    expect(tops.filter((top) => top === tops[0])).toHaveLength(inRow)
    expectNothingWrong(opened)
  })

  test('a token of each kind is minted, put where one is pasted, and explained', async () => {
    await using service = await serving(['--issuer', 'https://issuer.test', '--audience', 'api'])
    await using opened = await open(service)
    const { page } = opened
    const mint = async (kind: string) => {
      await page.evaluate(`document.querySelector('#explain-result').replaceChildren()`)
      await page.getByLabel('Kind').selectOption(kind)
      await page.getByRole('button', { name: 'Mint and explain' }).click()
      await page.getByRole('heading', { name: 'Checks' }).waitFor()
      return await page.getByLabel('A token, or a whole').inputValue()
    }
    await page.getByLabel('Subject').fill('ada')
    const token = await mint('')
    expect(decodeJwt(token)).toMatchObject({ sub: 'ada', iss: 'https://issuer.test' })
    expect(await verdicts(page)).toEqual(['accepted'])
    const options = await page.locator('form[data-form="mint"] option').all()
    expect(options.length).toBeGreaterThan(30)
    await page.getByLabel('Subject').fill('')
    expect(decodeJwt(await mint(''))).not.toHaveProperty('sub')
    await mint('expired')
    await page.locator('.verdict').getByText('expired', { exact: true }).waitFor()
    expectNothingWrong(opened)
  })

  test('a session is ended of a form, and what the API answers is said', async () => {
    await using service = await serving(['--issuer', 'https://login.test'])
    await using opened = await open(service)
    const { page } = opened
    const form = page.locator('#session')
    await form.getByLabel('Where your API receives log-outs').fill('http://127.0.0.1:1/logout')
    await form.getByRole('button', { name: 'Send the log-out token' }).click()
    await said(page, 'Not done: the API answered nothing, and has recorded no log-out.')
    expectNothingWrong(opened)
  })

  test('a service that ends and is started again is noticed, and its keys are shown', async () => {
    const first = await serving()
    const { port } = new URL(first.url)
    await using opened = await open(first)
    const { page } = opened
    await first[Symbol.asyncDispose]()
    await page.getByText('Not connected').waitFor()
    await using second = await serving(['--port', port])
    await second.control('rotate')
    await isLive(page)
    await expectKeys(page, 2)
    expectNothingWrong(opened, /net::ERR_/)
  })
})

async function expectKeys(page: Page, count: number): Promise<void> {
  await expect.poll(async () => await page.locator('.keys li').count()).toBe(count)
}

async function said(page: Page, text: string): Promise<void> {
  await page.locator('#outcome', { hasText: text }).waitFor()
}

async function explain(page: Page, text: string): Promise<void> {
  await page.evaluate(`document.querySelector('#explain-result').replaceChildren()`)
  await page.getByLabel('A token, or a whole').fill(text)
  await page.getByRole('button', { name: 'Explain', exact: true }).click()
  await page.getByRole('heading', { name: 'Checks' }).waitFor()
}

async function verdicts(page: Page): Promise<readonly string[]> {
  const texts = await page.locator('.verdict strong').allTextContents()
  return texts.map((text) => text.replaceAll(/[✓✕?]/g, '').replaceAll(/\s+/g, ' ').trim())
}
