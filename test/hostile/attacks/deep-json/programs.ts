import { runProgram } from '../../../../packages/cli/test/run-program.ts'
import { importEntries } from '../../../../packages/redis/src/program/commands.ts'
import type { Stream } from '../../../../packages/redis/src/store/stream.ts'
import { serving } from '../../../programs/console/serving.ts'
import { answered, collect } from './program.ts'
import { BODY_TEXTS, encoded, HEADER_TEXTS } from './texts.ts'

// A program: `portcullis serve`, which is asked over HTTP, and commands that are given hostile tokens.

const ROUNDS = 6

const tokens = BODY_TEXTS.flatMap((text) => [
  `${encoded(text)}.e30.AAAA`,
  `${encoded('{"alg":"RS512"}')}.${encoded(text)}.AAAA`,
])

await using service = await serving()
const { url } = service
const COMMANDS = [
  ['decode'],
  ['explain', '--auth-url', url],
  ['revoke', '--redis-url', 'redis://127.0.0.1:1'], // which is never asked
] as const
const JSON_TYPE = { 'content-type': 'application/json' }

for (let round = 0; round < ROUNDS; round++) {
  for (const token of tokens) {
    const body = JSON.stringify({ token })
    for (const path of ['control/explain', 'console/explain']) {
      answered(path, 'hostile', await post(path, body, JSON_TYPE))
    }
    for (const [command, ...options] of COMMANDS) {
      const { exitCode } = await runProgram([command, ...options], { stdin: token, fetch })
      answered(command, 'hostile', exitCode)
    }
  }
  for (const text of BODY_TEXTS) {
    const status = await post('control/mint', `{"claims":${text}`, JSON_TYPE)
    answered('control/mint', 'hostile', status)
    answered('import', 'hostile', await importing(text))
  }
  for (const text of HEADER_TEXTS) {
    answered('login', 'hostile', await logIn({ dpop: `${encoded(text)}.e30.AAAA` }))
  }
  collect()
}
answered('login', 'sound', await logIn({}))

async function post(path: string, body: string, headers: Record<string, string>): Promise<number> {
  const response = await fetch(`${url}/${path}`, { method: 'POST', headers, body })
  await response.arrayBuffer()
  return response.status
}

async function logIn(headers: Record<string, string>): Promise<number> {
  const form = { 'content-type': 'application/x-www-form-urlencoded', ...headers }
  return await post('tokenservice/token/api', 'loginId=demo&password=demo', form)
}

/** What `portcullis-revocations import` says of a line. It is no entry, so nothing is asked of the stream. */
async function importing(line: string): Promise<string> {
  const lines = (async function* () {
    yield await Promise.resolve(line)
  })()
  return await importEntries({} as Stream, lines).then(String, String)
}
