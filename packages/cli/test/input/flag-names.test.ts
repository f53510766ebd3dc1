import { expect, test } from 'vitest'

import { inFlags } from '../../src/input/flag-names.ts'

test.each([
  ['createVerifier: clockTolerance must be at most 600', '--clock-tolerance must be at most 600'],
  ['remoteKeys: timeout must be a number', '--timeout must be a number'],
  ['createVerifier: algorithms: "X" is not supported', '--algorithm: "X" is not supported'],
  ["the alg is RS256; state algorithms: ['RS256']", 'the alg is RS256; state --algorithm RS256'],
  ['state algorithmNames: { "A1": "RS512" }', 'state --algorithm-name A1=RS512'],
  [
    'must begin with https: (allowInsecure: true permits it)',
    'must begin with https: (--allow-insecure permits it)',
  ],
  ['so write discoverKeys(issuer), or take it', 'so state --discover and the issuer, or take it'],
  ['the key is not usable', 'the key is not usable'],
])('%s', (sentence, said) => {
  expect(inFlags(sentence)).toBe(said)
})

test('what others wrote stays as it is', () => {
  const written = String.raw`iss is "state algorithms: ['RS256'] \" algorithmNames: { \"a\": \"b\" }"; expected "x"`
  expect(inFlags(written)).toBe(written)
})
