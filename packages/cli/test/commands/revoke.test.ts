import { systemClock } from '@portcullis/kit/time'
import { createTestIssuer } from '@portcullis/testing'
import { describe, expect, test } from 'vitest'

import { runProgram } from '../run-program.ts'

// With a real server: test/simulation/redis/revoke.test.ts.

const issuer = await createTestIssuer({ algorithm: 'ES256' })
const named = await issuer.token({ claims: { jti: 'one' } })
const unnamed = await issuer.token()
/** Nothing listens there. */
const env = { REDIS_URL: 'redis://:geheim@127.0.0.1:1' }

describe('revoke', () => {
  test.each<[said: string, args: string[], stdin: string, environment: Record<string, string>]>([
    ['state --redis-url or REDIS_URL', [], named, {}],
    ['state --redis-url or REDIS_URL', [], named, { REDIS_URL: '' }],
    ['url must begin with redis: or rediss:', ['--redis-url', 'http://localhost'], named, {}],
    ['this token has no jti that could name it; --sub revokes', [], unnamed, env],
    ['there is no token: the input is empty', [], '', env],
    ['this is no JSON Web Token', [], 'nonsense', env],
    ['this is no JSON Web Token', [], 'a.b.c.d', env],
    ['this is no JSON Web Token', [], `a.${btoa('5')}.c`, env],
    ['state one of --sub, --client-id and --sid', ['--sub', 'a', '--sid', 'b'], '', env],
    ['state a token, or whose tokens, not both', ['--sub', 'a', '--env', 'TOKEN'], '', env],
    ['--iss goes with --sub, --client-id or --sid', ['--iss', 'a'], named, env],
    ['sub must be a string that is not empty', ['--sub', ''], '', env],
  ])('is refused: %s', async (said, args, stdin, environment) => {
    const given = { stdin, env: environment, clock: systemClock }
    const { exitCode, stdout, stderr } = await runProgram(['revoke', ...args], given)
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain(said)
    expect(stderr).not.toContain('geheim')
  })

  test('without a server ends with 3, and says neither its address nor its password', async () => {
    const given = { stdin: named, env, clock: systemClock }
    const { exitCode, stdout, stderr } = await runProgram(['revoke'], given)
    expect([exitCode, stdout]).toEqual([3, ''])
    expect(stderr).toMatch(/^portcullis: no connection to the store of revocations.*\n$/)
    expect(stderr).not.toMatch(/geheim|127\.0\.0\.1/)
  })
})
