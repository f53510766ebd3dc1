import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { expect, onTestFinished, test } from 'vitest'

import { codeSpans } from '../../documents/markdown.ts'
import { describeWithRedis } from './describe-with-redis.ts'
import { operateHere as operate } from './operate.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { issue, type Issued, join, type Member, STREAM } from './scene.ts'
import { until } from './waiting.ts'

// The steps of the pages after a loss, played as they are written, with processes and writers at work.

const read = (path: string) =>
  readFileSync(fileURLToPath(new URL(`../../../packages/${path}`, import.meta.url)), 'utf8')
const [, section = ''] =
  /### Revocations are lost\n([\s\S]*?)\n### /.exec(read('core/OPERATING.md')) ?? []
/** The commands of the steps, in their order. */
const STEPS = section.split('\n').filter((line) => /^\d\. /.test(line))
const commandIn = (step: string) =>
  codeSpans(step)
    .find((code) => code.startsWith('portcullis-revocations '))
    ?.replace('portcullis-revocations ', '')

const current = async (member: Member) =>
  await until('current', () => member.revocations.status().state === 'current')

async function fleetOf(server: RedisServer, count: number): Promise<readonly Member[]> {
  const fleet = Array.from({ length: count }, () => join(server.url))
  onTestFinished(async () => {
    for (const each of fleet) await each[Symbol.asyncDispose]()
  })
  for (const each of fleet) await current(each)
  return fleet
}

interface Writing {
  /** What was revoked, and recorded as its process was told. */
  readonly acknowledged: readonly Issued[]
  readonly more: (count: number) => Promise<void>
  readonly end: () => Promise<void>
}

/** Each revokes one token after another. */
function writingBy(fleet: readonly Member[]): Writing {
  const acknowledged: Issued[] = []
  const ending = new AbortController()
  const writing = fleet.map(async ({ revocations }) => {
    while (!ending.signal.aborted) {
      const token = await issue()
      await revocations.revoke(token.claims).then(
        () => acknowledged.push(token),
        () => undefined,
      )
    }
  })
  const end = async () => {
    ending.abort()
    await Promise.all(writing)
  }
  onTestFinished(end)
  return {
    acknowledged,
    end,
    async more(count) {
      const { length } = acknowledged
      await until('more', () => acknowledged.length >= length + count)
    },
  }
}

/** By a process that starts now. */
async function expectRevoked(server: RedisServer, tokens: readonly Issued[]): Promise<void> {
  await using newcomer = join(server.url)
  await current(newcomer)
  const verdicts = await Promise.all(tokens.map(async (each) => await newcomer.verdict(each)))
  expect(verdicts.filter((verdict) => verdict !== 'revoked')).toEqual([])
}

/** Until whoever is connected has written back: what the third step waits for. */
async function restored(server: RedisServer, command = 'restore'): Promise<void> {
  await until('restored', async () => {
    const { data } = await operate(server, command)
    return JSON.stringify([data['pending'], data['unnamedReaders']]) === '[[],0]'
  })
}

describeWithRedis('a stream that is lost', () => {
  test('the runbook, a fleet of four and FLUSHALL: a new process refuses before, while and after it is restored', async () => {
    await using server = await startRedis()
    await operate(server, 'create')
    const fleet = await fleetOf(server, 4)
    const revoked: Issued[] = []
    for (const each of fleet) {
      const token = await issue()
      await each.revocations.revoke(token.claims)
      revoked.push(token)
    }
    const saved = (await operate(server, 'export')).printed
    for (const each of fleet) for (const token of revoked) await each.comesTo('revoked', token)
    const valid = await issue()

    await server.command('FLUSHALL')
    for (const each of fleet) await each.comesTo('stale', valid)
    const { identity = '' } = fleet[0]?.revocations.status() ?? {}
    expect(await operate(server, `create --identity ${identity}`)).toMatchObject({ code: 1 })
    expect(await server.command('EXISTS', STREAM)).toBe(0)

    const commands = STEPS.flatMap((step) => commandIn(step) ?? [])
    expect(commands).toEqual([
      'create --replaces ID',
      'import',
      'restore',
      'restore --finish --processes N',
    ])
    const [create = '', load = '', look = '', finish = ''] = commands
    expect(await operate(server, create.replace('ID', identity))).toMatchObject({ code: 0 })
    await using newcomer = join(server.url)
    await until('read', () => newcomer.revocations.status().state === 'restoring')
    // Before anything else has come.
    for (const token of revoked) expect(await newcomer.verdict(token)).not.toBe('accepted')
    expect(await newcomer.verdict(valid)).toBe('stale')
    // Without the saved file: the processes know it all.
    await restored(server, look)
    for (const token of revoked) await newcomer.comesTo('revoked', token)
    expect(await operate(server, load, saved)).toMatchObject({ code: 0 })
    expect(await newcomer.verdict(valid)).toBe('stale')
    for (const each of fleet) await each.comesTo('accepted', valid)
    const { code, data } = await operate(server, finish.replace('N', '5'))
    expect({ code, data }).toMatchObject({
      code: 0,
      data: { ended: true, contributed: { processes: 4 }, incomplete: [], pending: [], joined: 1 },
    })
    await newcomer.comesTo('accepted', valid)
    await using last = join(server.url, { identity: String(data['identity']) })
    await last.comesTo('accepted', valid)
    for (const each of [...fleet, newcomer, last]) {
      for (const token of revoked) expect(await each.verdict(token)).toBe('revoked')
    }
  })

  test('a process whose user may not append is named, and so is why', async () => {
    await using server = await startRedis()
    const { data } = await operate(server, 'create')
    const rights = ['+multi', '+exec', '+xrange', '+xread', '+xinfo', `~${STREAM}`]
    await server.command('ACL', 'SETUSER', 'reader', 'on', '>secret', ...rights)
    await using reader = join(server.url.replace('//', '//reader:secret@'))
    await using writer = join(server.url)
    const token = await issue()
    await writer.revocations.revoke(token.claims)
    await reader.comesTo('revoked', token)
    await server.command('FLUSHALL')
    await until('missing', () => reader.revocations.status().state === 'missing')
    await writer[Symbol.asyncDispose]()
    await operate(server, `create --replaces ${String(data['id'])}`)
    await until('tried', () => reader.revocations.status().writeBackFailure !== undefined)
    expect(reader.revocations.status()).toMatchObject({
      restoration: { former: 'current', isWritten: false },
      writeBackFailure: { reason: 'refused', detail: expect.stringContaining('NOPERM') as string },
    })
    await until('said', async () => {
      const { data: seen } = await operate(server, 'restore')
      const [first] = seen['pending'] as readonly { state: string }[]
      return first?.state === 'failed'
    })
    await server.command('ACL', 'SETUSER', 'reader', '+xadd')
    await restored(server)
    await using newcomer = join(server.url)
    await newcomer.comesTo('revoked', token)
  })

  test('trimmed, with writers at work: what `create` prints and the page says loses no acknowledged revocation', async () => {
    await using server = await startRedis()
    await operate(server, 'create')
    const fleet = await fleetOf(server, 3)
    const [one] = fleet
    const { identity = '' } = one?.revocations.status() ?? {}
    const { acknowledged, more, end } = writingBy(fleet)
    await more(50)
    await server.command('XTRIM', STREAM, 'MAXLEN', 10)
    await until('missing', () =>
      fleet.every((each) => each.revocations.status().state === 'missing'),
    )
    await more(50)
    const { code, said } = await operate(server, 'create')
    expect(code).toBe(1)
    const page = read('redis/OPERATING.md')
    const [, sentence = ''] = /\*\*A stream that was trimmed\*\*([^\n]*)/.exec(page) ?? []
    for (const step of [
      'RENAME',
      'create --replaces',
      'export --stream',
      'import',
      'restore --finish',
    ]) {
      expect([step, said.includes(step)]).toEqual([step, true])
    }
    const [rename = '', create = '', save = '', load = ''] = codeSpans(sentence)
    await server.command(...rename.split(' '))
    await operate(server, create.replace('ID', identity))
    await more(50)
    const { printed } = await operate(server, save)
    await more(50)
    expect(await operate(server, load, printed)).toMatchObject({ code: 0 })
    await end()
    await restored(server)
    // On a busy machine the look before may be out of date, and the operator is told to wait.
    await until('ended', async () => {
      return (await operate(server, 'restore --finish --processes 3')).code === 0
    })
    await expectRevoked(server, acknowledged)
  })

  test('FLUSHALL with writers at work, and the steps of the page: no acknowledged revocation is lost, of before and after', async () => {
    await using server = await startRedis()
    const { data } = await operate(server, 'create')
    const fleet = await fleetOf(server, 3)
    const { acknowledged, more, end } = writingBy(fleet)
    await more(30)
    await server.command('FLUSHALL')
    await until('missing', () =>
      fleet.every((each) => each.revocations.status().state === 'missing'),
    )
    const before = acknowledged.length
    const [create = '', , look = '', finish = ''] = STEPS.flatMap((step) => commandIn(step) ?? [])
    await operate(server, create.replace('ID', String(data['id'])))
    // They go on to revoke while they write back, and when they have.
    await more(30)
    await restored(server, look)
    await more(30)
    await until('ended', async () => {
      return (await operate(server, finish.replace('N', '3'))).code === 0
    })
    await end()
    expect([before >= 30, acknowledged.length >= before + 60]).toEqual([true, true])
    await expectRevoked(server, acknowledged)
  })
})
