import { execFile } from 'node:child_process'
import { channel } from 'node:diagnostics_channel'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { createTestIssuer, manualClock } from '@portcullis/testing'
import { expect, test, vi } from 'vitest'

import {
  createVerifier,
  type KeysMessage,
  remoteKeys,
  type VerifyMessage,
} from '../../src/index.ts'
import { keyAttempts } from '../../src/report/diagnostics.ts'

const [issuer, next] = await Promise.all([createTestIssuer(), createTestIssuer()])

function world() {
  const clock = manualClock(Date.now() / 1000)
  const endpoint = { document: issuer.publicJwk as unknown }
  const keys = remoteKeys('https://canary-host.test/key', {
    clock,
    fetch: async () => {
      await new Promise<void>((resolve) => {
        clock.after(0.5, resolve)
      })
      return Response.json(endpoint.document)
    },
  })
  const verifier = createVerifier({ keys, issuer: null, audience: null, clock })
  const verify = async (token: string) => {
    const verdict = verifier.verify(token).catch(() => {})
    await clock.advance(3)
    await verdict
  }
  return { clock, endpoint, keys, verifier, verify }
}

/** What this source or verifier publishes while something is done: other tests share the channels. */
async function published<Message extends object>(
  name: string,
  isOurs: (message: Message) => boolean,
  act: () => Promise<void>,
): Promise<Message[]> {
  const messages: Message[] = []
  const listen = (message: unknown) => {
    if (isOurs(message as Message)) messages.push(message as Message)
  }
  channel(name).subscribe(listen)
  try {
    await act()
  } finally {
    channel(name).unsubscribe(listen)
  }
  return messages
}

test('portcullis:keys tells of a first attempt that fails', async () => {
  const { endpoint, keys, verify } = world()
  endpoint.document = []
  const [message] = await published<KeysMessage>(
    'portcullis:keys',
    ({ source }) => source === keys,
    async () => {
      await verify(await issuer.token())
    },
  )
  expect(message).toMatchObject({
    trigger: 'age',
    outcome: 'bad_document',
    added: [],
    removed: [],
    freshness: 'empty',
  })
})

test('portcullis:keys tells of each settled attempt', async () => {
  const { clock, endpoint, keys, verify } = world()
  const messages = await published<KeysMessage>(
    'portcullis:keys',
    ({ source }) => source === keys,
    async () => {
      await verify(await issuer.token())
      endpoint.document = { keys: [next.publicJwk, { kty: 'oct' }] }
      await verify(await next.token())
      endpoint.document = []
      await clock.advance(1000)
      await verify(await next.token())
    },
  )
  expect(messages).toMatchObject([
    {
      trigger: 'age',
      outcome: 'success',
      added: [issuer.publicJwk.kid],
      removed: [],
      freshness: 'fresh',
      skippedKeys: 0,
      skippedEntries: [],
      untriedKeys: 0,
    },
    {
      trigger: 'suspicion',
      outcome: 'success',
      added: [next.publicJwk.kid],
      removed: [issuer.publicJwk.kid],
      skippedKeys: 1,
      skippedEntries: [
        { index: 1, kid: undefined, reason: 'kty (oct) is not RSA or EC or OKP or AKP' },
      ],
    },
    {
      trigger: 'age',
      outcome: 'bad_document',
      detail: 'the document is neither a JWK nor a JWK set',
      added: [],
      removed: [],
      freshness: 'expired',
    },
  ])
  for (const { duration } of messages) expect(duration).toBeCloseTo(0.5)
})

test('portcullis:verify tells of each verdict', async () => {
  const { verifier, verify } = world()
  const messages = await published<VerifyMessage>(
    'portcullis:verify',
    (message) => message.verifier === verifier,
    async () => {
      const token = await issuer.token()
      await verify(token)
      await verify(token)
      await verify(await issuer.token({ expiresIn: -60 }))
      await verify('canary')
    },
  )
  expect(messages).toMatchObject([
    { code: undefined, reason: undefined, remembered: false },
    { code: undefined, reason: undefined, remembered: true, duration: 0 },
    { code: 'invalid_token', reason: 'expired', duration: 0 },
    { code: 'invalid_token', reason: 'malformed', duration: 0 },
  ])
  expect(messages[0]?.duration).toBeCloseTo(0.5)
})

test('what is no verdict is not published', async () => {
  const { clock, verifier } = world()
  const messages = await published<VerifyMessage>(
    'portcullis:verify',
    (message) => message.verifier === verifier,
    async () => {
      const controller = new AbortController()
      const verdict = verifier.verify(await issuer.token(), { signal: controller.signal })
      controller.abort(new Error('gone'))
      await expect(verdict).rejects.toThrow('gone')
      await clock.advance(1)
    },
  )
  expect(messages).toEqual([])
})

test('no message holds a token, a claim, key material or a URL', async () => {
  const { keys, verifier, verify } = world()
  const token = await issuer.token({ claims: { sub: 'canary-sub' } })
  const act = async () => {
    await verify(token)
  }
  const ofKeys = await published<KeysMessage>(
    'portcullis:keys',
    ({ source }) => source === keys,
    act,
  )
  const ofVerify = await published<VerifyMessage>(
    'portcullis:verify',
    (message) => message.verifier === verifier,
    act,
  )
  expect([ofKeys.length, ofVerify.length]).toEqual([1, 1])
  const text = JSON.stringify([ofKeys, ofVerify])
  expect(text).not.toMatch(/canary|https?:|eyJ/)
  expect(text).not.toContain(issuer.publicJwk.n?.slice(0, 20))
})

test('portcullis:verify says why a token was refused, and nothing of one that was accepted', async () => {
  const { verifier, verify } = world()
  const messages = await published<VerifyMessage>(
    'portcullis:verify',
    (message) => message.verifier === verifier,
    async () => {
      await verify(await issuer.token())
      await verify('Bearer canary')
    },
  )
  expect(messages.map(({ detail }) => detail)).toEqual([
    undefined,
    'not a JWS: the text begins with "Bearer "; verify takes the token alone',
  ])
})

test('a subscriber that throws changes no verdict', async () => {
  const program = `
    import { channel } from 'node:diagnostics_channel'
    import { createVerifier, remoteKeys } from '@portcullis/core'
    import { createTestIssuer, tokenService } from '@portcullis/testing'
    let faults = 0
    process.on('uncaughtException', () => { faults += 1 })
    for (const name of ['portcullis:keys', 'portcullis:verify']) {
      channel(name).subscribe(() => { throw new Error('a subscriber that throws') })
    }
    const issuer = await createTestIssuer()
    const service = tokenService(issuer)
    const keys = remoteKeys(service.keyUrl, { fetch: service.fetch })
    const verifier = createVerifier({ keys, issuer: null, audience: null })
    const { claims } = await verifier.verify(await issuer.token({ claims: { sub: 'ada' } }))
    await new Promise(setImmediate)
    console.log(claims.sub, faults)
  `
  expect(await run(program)).toBe('ada 2\n')
})

test('a process that verified once exits by itself', async () => {
  const program = `
    import { createVerifier, remoteKeys } from '@portcullis/core'
    import { createTestIssuer, tokenService } from '@portcullis/testing'
    const issuer = await createTestIssuer()
    const service = await tokenService(issuer).listen()
    const verifier = createVerifier({ keys: remoteKeys(service.keyUrl), issuer: null, audience: null })
    const { claims } = await verifier.verify(await issuer.token({ claims: { sub: 'ada' } }))
    console.log(claims.sub)
    await service.close()
  `
  expect(await run(program)).toBe('ada\n')
})

/** Runs a program in a process of its own, and answers with what it printed once it has ended. */
async function run(program: string): Promise<string> {
  const flags = ['--conditions=@portcullis/source', '--input-type=module', '--eval', program]
  const cwd = fileURLToPath(new URL('..', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd, timeout: 100_000 })
  return stdout
}

test('a message that nobody subscribes to is not even built', () => {
  const build = vi.fn<() => KeysMessage>()
  keyAttempts.publish(build)
  expect(build).not.toHaveBeenCalled()
})
