import { createTokenClient, TokenClientError, type TokenClientOptions } from '@portcullis/client'
import { createTestIssuer, manualClock } from '@portcullis/testing'

import { answered, collect } from './program.ts'
import { BODY_TEXTS, encoded } from './texts.ts'

// A program: clients whose token service answers with hostile texts, then one that gets a token.

const ROUNDS = 8

const clock = manualClock()
const sound = await (await createTestIssuer({ clock })).token()

const bodies = BODY_TEXTS.flatMap((text) => [
  text,
  `{"access_token":${text}`,
  `${encoded(text)}.e30.AAAA`,
  `${encoded('{"alg":"RS512"}')}.${encoded(text)}.AAAA`,
])

for (let round = 0; round < ROUNDS; round++) {
  for (const body of bodies) {
    answered('200', 'hostile', await outcomeOf(() => new Response(body)))
    answered('400', 'hostile', await outcomeOf(() => proofRefused(body), { dpop: true }))
    answered('parsed', 'hostile', await outcomeOf(() => new Response(body), { response: parsed }))
  }
  collect()
}
answered('200', 'sound', await outcomeOf(() => new Response(sound)))

/** The client reads why. */
function proofRefused(body: string): Response {
  return new Response(body, { status: 400, headers: { 'dpop-nonce': 'new' } })
}

function parsed(body: string): string {
  return String(JSON.parse(body))
}

async function outcomeOf(
  answer: () => Response,
  options: Pick<TokenClientOptions, 'dpop' | 'response'> = {},
): Promise<string> {
  const tokens = createTokenClient({
    authUrl: 'https://auth.test',
    loginId: 'demo',
    password: 'demo',
    origins: [],
    fetch: async () => await Promise.resolve(answer()),
    clock,
    ...options,
  })
  try {
    await tokens.get()
    return 'a token'
  } catch (error) {
    if (error instanceof TokenClientError) return error.code
    throw error
  }
}
