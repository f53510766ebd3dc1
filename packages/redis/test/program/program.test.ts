import { manualClock } from '@portcullis/testing'
import { expect, test } from 'vitest'

import { run } from '../../src/program/program.ts'
import { tokenRecord } from '../revocations/processes.ts'
import { type FakeStore, fakeStore } from '../store/fake-store.ts'

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

/** A store, and the program that works with it. */
function operator() {
  const store = fakeStore(manualClock(Date.now() / 1000))
  const urls: string[] = []
  const sentinels: unknown[] = []
  async function portcullis(
    command: string,
    {
      environment = { REDIS_URL: 'redis://127.0.0.1' },
      input = '',
      lines = Infinity,
    }: Partial<Terminal> = {},
  ) {
    const printed: string[] = []
    const said: string[] = []
    const code = await run(command.split(' ').filter(Boolean), {
      environment,
      input: linesOf(input),
      connect: ({ url, sentinel }) => {
        urls.push(url)
        sentinels.push(sentinel)
        return store.connect
      },
      async print(line) {
        if (printed.length >= lines) throw Object.assign(new Error('write'), { code: 'EPIPE' })
        printed.push(line)
      },
      say: (line) => said.push(line),
    })
    return { code, printed, said: said.join('\n'), data: dataOf(printed) }
  }
  return { store, urls, sentinels, portcullis }
}

interface Terminal {
  readonly environment: Record<string, string>
  readonly input: string
  /** How many lines are read of the output. */
  readonly lines: number
}

/** Lines with the one that ends an export. */
function exported(...lines: readonly string[]): string {
  return [...lines, `{"type":"end","entries":${lines.length}}`, ''].join('\n')
}

async function* linesOf(text: string): AsyncGenerator<string> {
  yield* text.split('\n')
}

function dataOf([first = 'null']: readonly string[]): Record<string, unknown> {
  return first.startsWith('{') ? (JSON.parse(first) as Record<string, unknown>) : {}
}

test('create makes the stream once, and prints its identity', async () => {
  const { store, portcullis } = operator()
  const { code, data } = await portcullis('create')
  expect({ code, data }).toEqual({
    code: 0,
    data: { id: expect.stringMatching(UUID) as string, replaces: [] },
  })
  const again = await portcullis('create')
  expect(again).toMatchObject({ code: 1, printed: [] })
  expect(again.said).toContain(`exists already: its identity is ${String(data['id'])}`)
  expect(store.data.get('portcullis:revocations')?.entries).toHaveLength(1)
})

test('with Sentinel, each command is told the name of the primary and all sentinels', async () => {
  const { sentinels, portcullis } = operator()
  await portcullis('create --primary main --sentinel redis://a:26379 --sentinel redis://b:26379')
  await portcullis('status')
  const urls = ['redis://a:26379', 'redis://b:26379']
  expect(sentinels).toEqual([{ primary: 'main', urls }, undefined])
})

test.each([
  ['status --primary main', 'state both --primary and --sentinel'],
  ['status --sentinel redis://a', 'state both --primary and --sentinel'],
  ['status --primary main --sentinel a', 'what is said of sentinels has a URL that is not an'],
  ['status --primary main --primary other --sentinel redis://a', '--primary is stated twice'],
])('%s: exit code 2, and nothing is asked', async (command, complaint) => {
  const { urls, portcullis } = operator()
  const { code, said } = await portcullis(command)
  expect(code).toBe(2)
  expect(said).toContain(complaint)
  expect(urls).toEqual([])
})

test('create --replaces names the streams that were lost', async () => {
  const { portcullis } = operator()
  const { data } = await portcullis('create --replaces a --replaces b')
  expect(data).toMatchObject({ replaces: ['a', 'b'] })
  expect((await portcullis('status')).data).toMatchObject({ replaces: ['a', 'b'] })
})

test('create leaves a stream alone that has lost its identity, and says what to do', async () => {
  const { store, portcullis } = operator()
  store.add(tokenRecord('a'))
  const { code, said } = await portcullis('create')
  expect(code).toBe(1)
  expect(said).toContain('RENAME the key, `create --replaces`')
})

test.each([
  ['revoke --iss x --jti a --exp 4000000000', { type: 'token', iss: 'x', jti: 'a', exp: 4e9 }],
  ['revoke --jti a', { type: 'token', jti: 'a' }],
  ['revoke --jti a --exp 2100-01-01T00:00:00Z', { type: 'token', jti: 'a', exp: 4_102_444_800 }],
  [
    'revoke-before --iss x --client-id c --time 100.5 --until 4000000000',
    { type: 'issued_before', iss: 'x', client_id: 'c', time: 100.5, until: 4e9 },
  ],
  ['revoke-before --sid s --time 100', { type: 'issued_before', sid: 's', time: 100 }],
  ['revoke-before --all --time 100', { type: 'issued_before', time: 100 }],
])('%s', async (command, entry) => {
  const { portcullis } = operator()
  await portcullis('create')
  const { code, data } = await portcullis(command)
  expect({ code, data }).toEqual({ code: 0, data: { id: expect.any(String) as string, ...entry } })
  expect((await portcullis('export')).printed.map((line) => JSON.parse(line) as unknown)).toEqual([
    entry,
    { type: 'end', entries: 1 },
  ])
})

test('revoke revokes each --jti, and prints each', async () => {
  const { portcullis } = operator()
  await portcullis('create')
  const { code, printed } = await portcullis('revoke --jti a --iss x --jti b')
  const jtis = printed.map((line) => (JSON.parse(line) as { jti: string }).jti)
  expect({ code, jtis }).toEqual({ code: 0, jtis: ['a', 'b'] })
  expect((await portcullis('status')).data).toMatchObject({ revocations: 2 })
})

test('revoke-before counts from now, with the fraction of the second', async () => {
  const { portcullis } = operator()
  await portcullis('create')
  const earliest = Date.now() / 1000
  const { data } = await portcullis('revoke-before --sub a')
  expect(data['time']).toBeGreaterThanOrEqual(earliest)
  expect(data['time']).toBeLessThanOrEqual(Date.now() / 1000)
})

test('status counts the records, and names those that cannot be read', async () => {
  const { store, portcullis } = operator()
  await portcullis('create')
  await portcullis('revoke --jti a')
  store.add(['hello', 'world'])
  const unreadable = store.add(['v', '2'])
  const { data } = await portcullis('status')
  expect(data).toMatchObject({
    exists: true,
    revocations: 1,
    foreign: 1,
    unreadable: 1,
    unreadableIds: [unreadable],
  })
})

test('status of no stream', async () => {
  const { data } = await operator().portcullis('status')
  expect(data).toMatchObject({ exists: false, identity: null, revocations: 0 })
})

test('compact deletes what nobody needs, over several pages, and never the identity', async () => {
  const { store, portcullis } = operator()
  await portcullis('create')
  for (let at = 0; at < 1500; at += 1) store.add(tokenRecord(`t${at}`, 1000))
  store.add(tokenRecord('a'))
  const { data } = await portcullis('compact')
  expect(data).toEqual({ read: 1502, deleted: 1500 })
  expect((await portcullis('status')).data).toMatchObject({ revocations: 1, foreign: 0 })
  expect((await portcullis('create')).said).toContain('exists already')
})

test.each([
  ['the operator', -86_400, -7200],
  ['the store', 86_400, 7200],
])('the clock of %s is a day ahead: compact deletes nothing too early', async (_, ahead, exp) => {
  const { store, portcullis } = operator()
  await portcullis('create')
  // The program has the clock of the system.
  store.ahead = ahead
  store.add(tokenRecord('needed', Date.now() / 1000 + exp))
  expect((await portcullis('compact')).data).toEqual({ read: 2, deleted: 0 })
})

test('import drops nothing by the clock of the operator, which may be ahead', async () => {
  const { portcullis } = operator()
  await portcullis('create')
  const input = exported(
    '{"type":"token","jti":"a","exp":1000}',
    '{"type":"issued_before","time":1,"until":2}',
  )
  expect((await portcullis('import', { input })).data).toEqual({ read: 2, added: 2 })
})

test('what export prints can be imported into another stream', async () => {
  const [from, to] = [operator(), operator()]
  await from.portcullis('create')
  await from.portcullis('revoke --jti a')
  await from.portcullis('revoke-before --sub b --time 5')
  const { printed } = await from.portcullis('export')
  await to.portcullis('create')
  const { data } = await to.portcullis('import', { input: `${printed.join('\n')}\n` })
  expect(data).toEqual({ read: 2, added: 2 })
  expect((await to.portcullis('export')).printed).toEqual(printed)
})

test.each([
  ['was cut between two lines', '{"type":"token","jti":"a"}', 'no last line with the number'],
  ['is empty', '', 'no last line with the number'],
  ['was cut in a line', '{"type":"token","jti":"a"}\n{"type":"tok', 'line 2 is no entry'],
  ['was cut in its last line', '{"type":"token","jti":"a"}\n{"type":"end"', 'line 2 is no entry'],
  [
    'lacks a line',
    '{"type":"token","jti":"a"}\n{"type":"end","entries":2}',
    'the last line says 2 entries, but there are 1',
  ],
  [
    'is two exports in one',
    `${exported('{"type":"token","jti":"a"}')}${exported('{"type":"token","jti":"b"}')}`,
    'line 3 comes after the last line of an export',
  ],
  ['has a line that is no entry', exported('{"type":"token"}'), 'line 1 is no entry'],
])('import of a file that %s adds nothing, and says so', async (_, input, why) => {
  const { store, portcullis } = operator()
  await portcullis('create')
  const { code, printed, said } = await portcullis('import', { input })
  expect({ code, printed }).toEqual({ code: 1, printed: [] })
  expect(said).toContain('nothing was added')
  expect(said).toContain(why)
  expect(store.commands.filter((name) => name === 'XADD')).toHaveLength(1)
})

test('import of what an earlier version exported says which line to add, and takes it then', async () => {
  const { portcullis } = operator()
  await portcullis('create')
  const lines = '{"type":"token","jti":"a"}\n{"type":"token","jti":"b"}\n'
  const { said } = await portcullis('import', { input: lines })
  const [, line = ''] = /add the line (.*)$/.exec(said) ?? []
  const { data } = await portcullis('import', { input: `${lines}${line}\n` })
  expect(data).toEqual({ read: 2, added: 2 })
})

test('import says how many were added when the store fails meanwhile', async () => {
  const { store, portcullis } = operator()
  await portcullis('create')
  store.before = (name, nth) => {
    if (name === 'XADD' && nth === 3) store.mode = 'full'
  }
  const input = exported(...['a', 'b', 'c'].map((jti) => `{"type":"token","jti":"${jti}"}`))
  const { code, said } = await portcullis('import', { input })
  expect(code).toBe(1)
  expect(said).toContain('no memory left (OOM); 1 of 3 entries were added')
})

/** A stream of three pages, as the program reads them. */
async function operatorOfMany() {
  const made = operator()
  await made.portcullis('create')
  for (let at = 0; at < 2500; at += 1) made.store.add(tokenRecord(`t${at}`))
  return made
}

test('export reads on to what comes meanwhile: who is revoked again, and compacted, is in it', async () => {
  const { store, portcullis } = await operatorOfMany()
  const record = ['v', '1', 'type', 'issued_before', 'sub', 'ann', 'time']
  const former = store.add([...record, '100'])
  store.before = (name, nth) => {
    // The former is on the third page.
    if (name !== 'EXEC' || nth !== 4) return
    store.add([...record, '200'])
    store.delete(former)
  }
  const { code, printed } = await portcullis('export')
  expect(code).toBe(0)
  expect(printed).toHaveLength(2502)
  expect(printed.at(-2)).toContain('"time":200')
  expect(printed.at(-1)).toBe('{"type":"end","entries":2501}')
})

test.each<[string, (store: FakeStore) => void]>([
  ['is deleted', (store) => (store.data = new Map())],
  [
    'is replaced',
    (store) => {
      store.data = new Map()
      store.create('second')
    },
  ],
  [
    'is trimmed',
    (store) => {
      store.trim(10)
    },
  ],
])(
  'export of a stream that %s meanwhile fails, and its lines cannot be imported',
  async (_, change) => {
    const { store, portcullis } = await operatorOfMany()
    store.before = (name, nth) => {
      if (name === 'EXEC' && nth === 3) change(store)
    }
    const { code, printed, said } = await portcullis('export')
    expect(code).toBe(1)
    expect(said).toContain('could not be read as a whole')
    const to = operator()
    await to.portcullis('create')
    expect((await to.portcullis('import', { input: printed.join('\n') })).code).toBe(1)
  },
)

test('export fails if it cannot read a record, and names it', async () => {
  const { store, portcullis } = operator()
  await portcullis('create')
  const id = store.add(['v', '2'])
  store.add(tokenRecord('a'))
  const { code, printed, said } = await portcullis('export')
  expect({ code, lines: printed.length }).toEqual({ code: 1, lines: 1 })
  expect(said).toContain(`records that cannot be read: 1, the first is ${id}`)
})

test.each(['status', 'compact'])('%s of a stream that is away meanwhile fails', async (command) => {
  const { store, portcullis } = await operatorOfMany()
  const { data } = store
  store.before = (name, nth) => {
    if (name === 'EXEC') store.data = nth === 4 ? new Map() : data
  }
  const { code, printed, said } = await portcullis(command)
  expect({ code, printed }).toEqual({ code: 1, printed: [] })
  expect(said).toContain('could not be read as a whole')
})

test.each(['revoke --jti a', 'revoke-before --all', 'compact', 'export', 'import'])(
  '%s does not make a stream',
  async (command) => {
    const { store, portcullis } = operator()
    const input = exported('{"type":"token","jti":"a"}')
    const { code, said } = await portcullis(command, { input })
    expect(code).toBe(1)
    expect(said).toContain('does not exist')
    expect(store.data.size).toBe(0)
  },
)

test('a store that is down, or full', async () => {
  const { store, portcullis } = operator()
  await portcullis('create')
  store.mode = 'full'
  expect((await portcullis('revoke --jti a')).said).toContain('no memory left (OOM)')
  store.mode = 'unreachable'
  expect(await portcullis('status')).toMatchObject({ code: 1, printed: [] })
})

test('--url is taken before REDIS_URL', async () => {
  const { urls, portcullis } = operator()
  await portcullis('status')
  await portcullis('status --url redis://10.0.0.7/2')
  expect(urls).toEqual(['redis://127.0.0.1', 'redis://10.0.0.7/2'])
})

test('--stream names another key', async () => {
  const { store, portcullis } = operator()
  await portcullis('create --stream other')
  expect([...store.data.keys()]).toEqual(['other'])
})

test.each([
  ['', 'no command, known are create, restore, revoke'],
  ['destroy', 'unknown command destroy'],
  ['status now', 'unknown command status now'],
  ['constructor', 'unknown command constructor'],
  ['status --jti a', 'status takes no --jti'],
  ['status --colour', "Unknown option '--colour'"],
  ['revoke', '--jti must be stated'],
  ['revoke --jti a --exp tomorrow', 'a time must be seconds'],
  ['revoke --jti a --exp 1767225600000', 'not in milliseconds'],
  ['revoke-before --sub a --until 1767225600000', 'not in milliseconds'],
  ['revoke --jti a --exp 1 --exp 2', '--exp is stated twice'],
  ['revoke-before --sub a --sub b', '--sub is stated twice'],
  ['status --stream a --stream=b', '--stream is stated twice'],
  ['revoke-before --sub a --sid b', 'name one of sub, client_id and sid'],
  ['revoke-before', 'state whose tokens by --iss'],
  ['revoke-before --iss x --all', 'state whose tokens by --iss'],
  ['status --url http://:hunter2@127.0.0.1', 'must begin with redis: or rediss:'],
])('a wrong command line is exit code 2: %s', async (command, text) => {
  const { portcullis } = operator()
  const { code, said, printed } = await portcullis(command)
  expect({ code, printed }).toEqual({ code: 2, printed: [] })
  expect(said).toContain(text)
  expect(said).not.toContain('hunter2')
})

test('no URL is exit code 2', async () => {
  const { portcullis } = operator()
  const { code, said } = await portcullis('status', { environment: {} })
  expect(code).toBe(2)
  expect(said).toContain('--url or REDIS_URL')
})

test('an output that nobody reads any more ends the command with exit code 1 and one line', async () => {
  const { store, portcullis } = operator()
  await portcullis('create')
  for (let at = 0; at < 2500; at += 1) store.add(tokenRecord(`t${at}`))
  const asked = store.commands.length
  const { code, printed, said } = await portcullis('export', { lines: 5 })
  expect({ code, lines: printed.length, said }).toEqual({
    code: 1,
    lines: 5,
    said: 'portcullis-revocations: the output could not be written (EPIPE)',
  })
  // A page and the question for the role: the others are not read.
  expect(store.commands.length - asked).toBe(2)
})

test('--help is data', async () => {
  const { code, printed, said } = await operator().portcullis('--help')
  expect({ code, said }).toEqual({ code: 0, said: '' })
  expect(printed.join('\n')).toContain('Usage: portcullis-revocations')
})
