import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

import { expect, test } from 'vitest'

import { describeWithBrowser, expectNothingWrong, useBrowser } from './browser.ts'
import { isLive } from './live.ts'
import { type Serving, serving } from './serving.ts'

const SCRIPT = `"'><script>document.title='run'</script><img src=x onerror="document.title='run'">`

describeWithBrowser('against the console', () => {
  const visit = useBrowser('--host-resolver-rules=MAP rebound.test 127.0.0.1')

  test('what would run does not run, and is noticed by these tests', async () => {
    await using service = await serving()
    await using opened = await visit(service.url)
    const { page } = opened
    for (const attempt of [
      `document.body.innerHTML = '<b>x</b>'`,
      `new DOMParser().parseFromString('<b>x</b>', 'text/html')`,
      `document.createElement('script').text = 'document.title = "run"'`,
      `trustedTypes.createPolicy('mine', { createHTML: (text) => text })`,
    ]) {
      await expect(page.evaluate(attempt)).rejects.toThrow(/TypeError/)
    }
    await page.evaluate(`document.body.append(Object.assign(document.createElement('p'), {}))`)
    await page.evaluate(`document.querySelector('p').setAttribute('style', 'color: red')`)
    await page.evaluate(`fetch('https://example.invalid/').catch(() => undefined)`)
    await expect
      .poll(() => opened.wrong.join('\n'))
      .toMatch(/style-src[\s\S]*connect-src|connect-src[\s\S]*style-src/)
  })

  test('script in claims, names and a header is text', async () => {
    await using service = await serving(['--claim', `note=${SCRIPT}`])
    await using opened = await visit(service.url)
    const { page } = opened
    await isLive(page)
    // No JSON is read that has a quote in a name.
    const name = SCRIPT.replaceAll('"', '')
    const names = ['iss', 'aud', 'sub', 'jti', 'nonce', 'scope', name]
    const { token } = await service.control('mint', {
      claims: Object.fromEntries(names.map((each) => [each, SCRIPT])),
      header: { kid: SCRIPT, typ: SCRIPT, jku: SCRIPT },
    })
    for (const text of [String(token), SCRIPT, `${SCRIPT}.${SCRIPT}.${SCRIPT}`]) {
      await page.getByLabel('A token, or a whole').fill(text)
      await page.getByRole('button', { name: 'Explain', exact: true }).click()
      await page.locator('#outcome', { hasText: 'The token is explained.' }).waitFor()
    }
    await page.getByLabel('Subject').fill(SCRIPT)
    await page.getByRole('button', { name: 'Mint and explain' }).click()
    await page.locator('.decoded', { hasText: '<script>' }).waitFor()
    expect(await page.title()).toBe('Portcullis console')
    expect(await page.locator('script').count()).toBe(1)
    expect(await page.locator('img').count()).toBe(1)
    expectNothingWrong(opened)
  })

  test('a text that turns or hides what follows it is shown as what it is', async () => {
    await using service = await serving()
    await using opened = await visit(service.url)
    const { page } = opened
    await page.getByLabel('Subject').fill('ada\u{202E}nimda\u{200B}')
    await page.getByRole('button', { name: 'Mint and explain' }).click()
    await page.locator('.decoded', { hasText: String.raw`\u202enimda\u200b` }).waitFor()
    expectNothingWrong(opened)
  })

  test('a token of 16 KiB, and one that is too large, are explained and shown in part', async () => {
    await using service = await serving()
    await using opened = await visit(service.url)
    const { page } = opened
    for (const size of [10_000, 40_000]) {
      const { token } = await service.control('mint', { claims: { note: 'x'.repeat(size) } })
      await page.getByLabel('A token, or a whole').fill(String(token))
      await page.getByRole('button', { name: 'Explain', exact: true }).click()
      await page.getByRole('heading', { name: 'Checks' }).waitFor()
    }
    await page.locator('.verdict', { hasText: 'too_large' }).first().waitFor()
    await page.getByLabel('A token, or a whole').fill('x'.repeat(100_000))
    await page.getByRole('button', { name: 'Explain', exact: true }).click()
    await page.locator('#outcome', { hasText: 'Not done: ' }).waitFor()
    expectNothingWrong(opened, /status of 413/)
  })

  test('a flood of events grows nothing in the page, and it still follows', async () => {
    await using service = await serving()
    await using opened = await visit(service.url)
    const { page } = opened
    await isLive(page)
    const flood = async (name: string) => {
      for (let batch = 0; batch < 10; batch++) {
        const clients = Array.from({ length: 40 }, async (_, number) => {
          await (await service.fetchKeys(`${name}/${batch}.${number}`)).text()
          await (await service.logIn(`${name}-${number}`, 'x')).text()
        })
        await Promise.all(clients)
      }
    }
    const elements = async () =>
      Number(await page.evaluate('document.querySelectorAll("*").length'))
    const before = await elements()
    await flood('first')
    await service.control('rotate')
    await page.locator('.keys li').nth(1).waitFor()
    expect(await elements()).toBeLessThan(before + 20)
    expectNothingWrong(opened)
  })

  test('by a name that points here (DNS rebinding), neither the page nor the interface answers', async () => {
    await using service = await serving()
    const { port } = new URL(service.url)
    await using opened = await visit(`http://rebound.test:${port}/`)
    expect(await opened.page.locator('main').count()).toBe(0)
    await opened.page.getByText('the Host header must name this machine').waitFor()
  })

  test.each(['/', '/console/live', '/console/page.js', '/console/explain', '/console/nothing'])(
    '%s is behind the gate, whatever the host and the site',
    async (path) => {
      await using service = await serving()
      expect(await statusOf(service, path, { host: 'evil.test' })).toBe(403)
      expect(await statusOf(service, path, { origin: 'https://evil.test' })).toBe(403)
      expect(await statusOf(service, path, { 'sec-fetch-site': 'cross-site' })).toBe(403)
      const response = await fetch(new URL(path, service.url))
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(response.headers.get('content-security-policy')).not.toContain('unsafe')
    },
  )

  test('a page of another site can neither frame it nor change anything', async () => {
    await using service = await serving()
    await using site = await attacker(service)
    await using opened = await visit(site.url)
    const { page } = opened
    await page.locator('#done').waitFor()
    const framed = page.frames().find((frame) => frame.url().startsWith(service.url))
    expect((await framed?.locator('main').count()) ?? 0).toBe(0)
    const { keys, faults } = (await (await fetch(`${service.url}/control/state`)).json()) as Record<
      string,
      readonly unknown[]
    >
    expect(keys).toHaveLength(1)
    expect(faults).toHaveLength(0)
  })

  test('a service that others can reach shows no page without the secret, and says where it goes', async () => {
    await using service = await serving(['--host', '0.0.0.0'])
    const response = await fetch(service.url)
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toMatch(/^Basic realm="/)
    expect(await response.text()).toMatch(/^the secret .*: it is the password of any user/)
  })

  test('a browser that was given the secret shows all of it, and lends it to no other site', async () => {
    await using service = await serving(['--host', '0.0.0.0'], 'geheim-geheim-16')
    const httpCredentials = { username: 'anybody', password: 'geheim-geheim-16' }
    await using opened = await visit(service.url, { httpCredentials })
    const { page } = opened
    await isLive(page)
    await page.getByRole('button', { name: 'Rotate at once' }).click()
    await page.locator('#outcome', { hasText: 'There is a new key.' }).waitFor()
    await page.getByRole('button', { name: 'Mint and explain' }).click()
    await page.getByRole('heading', { name: 'Checks' }).waitFor()
    // The browser answers each 401 by itself, and shows it among the errors.
    expectNothingWrong(opened, /status of 401/)
    await using site = await attacker(service)
    await page.goto(site.url)
    await page.locator('#done').waitFor()
    const framed = page.frames().find((frame) => frame.url().startsWith(service.url))
    expect((await framed?.locator('main').count()) ?? 0).toBe(0)
    const { cleared } = await service.control('fault/clear')
    expect(cleared).toBe(0)
    const { keys } = await service.control('rollback')
    expect(keys).toHaveLength(2)
  })

  test('nothing is stored in the browser', async () => {
    await using service = await serving()
    await using opened = await visit(service.url)
    const { page } = opened
    await isLive(page)
    await page.getByRole('button', { name: 'Mint and explain' }).click()
    await page.getByRole('heading', { name: 'Checks' }).waitFor()
    expect(await page.context().cookies()).toEqual([])
    const kept = `(async () => [
      localStorage.length, sessionStorage.length,
      (await indexedDB.databases()).length, (await caches.keys()).length,
    ])()`
    expect(await page.evaluate(kept)).toEqual([0, 0, 0, 0])
    expectNothingWrong(opened)
  })
})

/** With a header that `fetch` sets itself. */
async function statusOf(
  { url }: Serving,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<number | undefined> {
  const asking = request(new URL(path, url), { headers, agent: false }).end()
  const [response] = (await once(asking, 'response')) as [
    NodeJS.ReadableStream & { statusCode?: number },
  ]
  response.resume()
  return response.statusCode
}

/** Another site, which tries what a browser lets it try. */
async function attacker({ url }: Serving) {
  const page = `<!doctype html><title>evil</title>
    <iframe src="${url}/" name="framed"></iframe>
    <form action="${url}/control/rotate" method="post" enctype="text/plain" target="posted">
      <input name='{"publish":"now","x":"' value='"}'>
    </form>
    <iframe name="posted"></iframe>
    <script>
      const bodies = ['{}', '{"endpoint":"keys","kind":503}']
      const tries = ['rotate', 'fault', 'mint', 'explain'].flatMap((operation) => bodies.flatMap((body) => [
        fetch('${url}/control/' + operation, { method: 'POST', mode: 'no-cors', body }),
        fetch('${url}/control/' + operation, { method: 'POST', body, headers: { 'content-type': 'application/json' } }),
        fetch('${url}/console/' + operation, { method: 'POST', mode: 'no-cors', body }),
      ]))
      document.forms[0].submit()
      document.querySelector('[name=posted]').addEventListener('load', async () => {
        await Promise.allSettled(tries)
        document.body.append(Object.assign(document.createElement('p'), { id: 'done', textContent: 'done' }))
      })
    </script>`
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(page)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    // Another site than 127.0.0.1 for the browser, and the same machine.
    url: `http://localhost:${port}/`,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
