import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import {
  authenticateRequest,
  createVerifier,
  localRevocations,
  refusal,
  remoteKeys,
} from '@portcullis/core'
import { receiveLogout } from '@portcullis/events'
import { reportVerdicts } from '@portcullis/testing'
import { expect, onTestFinished, test } from 'vitest'

import { type Serving, serving } from './serving.ts'

const ISSUER = 'https://login.test'

/** An API that receives log-outs, and answers 200 or the reason of its refusal. */
async function startApi({ url, clock }: Serving): Promise<string> {
  const keys = remoteKeys(`${url}/tokenservice/pubkey.json`, { clock })
  const revocations = localRevocations({ clock })
  const verifier = createVerifier({ keys, issuer: ISSUER, audience: null, revocations })
  const logout = receiveLogout({
    keys,
    issuer: ISSUER,
    clientId: 'my-client',
    revocations,
    revokes: 'subject',
  })
  const server = createServer((request, response) => {
    if (request.url === '/backchannel-logout') void logout(request, response)
    else {
      authenticateRequest(verifier, request).then(
        () => response.end('ok'),
        (error: unknown) => response.writeHead(401).end(refusal(error)?.reason),
      )
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function logOf({ url }: Serving): Promise<string> {
  return await (await fetch(`${url}/control/log`)).text()
}

test('a session that serve ends: the next answer of the API is 401 revoked, and the log has both', async () => {
  await using service = await serving(['--issuer', ISSUER])
  const api = await startApi(service)
  const reports = reportVerdicts({ url: service.url, name: 'an API' })
  const { token } = await service.control('mint', { claims: { sub: 'ada' } })
  const call = async () => {
    const response = await fetch(api, { headers: { authorization: `Bearer ${String(token)}` } })
    return [response.status, await response.text()]
  }
  expect(await call()).toEqual([200, 'ok'])
  const ended = { url: `${api}/backchannel-logout`, clientId: 'my-client', sub: 'ada' }
  expect(await service.control('logout', ended)).toEqual({ status: 200 })
  expect(await call()).toEqual([401, 'revoked'])
  expect(await service.control('logout', { ...ended, clientId: 'other' })).toEqual({ status: 400 })
  await reports.close()
  const log = await logOf(service)
  expect(log).toMatch(/"type":"session ended","status":200.*"type":"session ended","status":400/)
  expect(log).toMatch(/"code":"invalid_token","reason":"revoked"/)
  expect(log).not.toContain('ada')
})

test('an API that cannot be reached is told, and does not stop serve', async () => {
  await using service = await serving(['--issuer', ISSUER])
  const ended = { url: 'http://127.0.0.1:1/', clientId: 'c', sid: 's' }
  expect(await service.control('logout', ended)).toEqual({})
  expect(await logOf(service)).toMatch(/"type":"session ended","id":\d+/)
})

test.each<[error: string, args: readonly string[], body: object]>([
  ['start serve with --issuer', [], { url: 'http://127.0.0.1:1/', clientId: 'c', sub: 's' }],
  [
    'must begin with http: or https:',
    ['--issuer', 'i'],
    { url: 'file:///x', clientId: 'c', sub: 's' },
  ],
  ['url must be stated', ['--issuer', 'i'], { clientId: 'c', sub: 's' }],
  ['clientId must be stated', ['--issuer', 'i'], { url: 'http://127.0.0.1:1/', sub: 's' }],
  ['sub or sid must be stated', ['--issuer', 'i'], { url: 'http://127.0.0.1:1/', clientId: 'c' }],
])('is refused: %s', async (error, args, body) => {
  await using service = await serving(args)
  await expect(service.control('logout', body)).rejects.toThrow(error)
})
