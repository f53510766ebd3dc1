import { expect, test } from 'vitest'

import { grantedScopes } from '../../src/index.ts'

test.each([
  { name: 'a text', claims: { scope: 'read write' }, granted: ['read', 'write'] },
  { name: 'a list', claims: { scp: ['read', 'write'] }, granted: ['read', 'write'] },
  { name: 'both claims', claims: { scope: 'a', scp: ['b', 'a'] }, granted: ['a', 'b'] },
  { name: 'too many spaces', claims: { scope: ' a  b ' }, granted: ['a', 'b'] },
  { name: 'what is no scope', claims: { scp: [1, null, '', 'a b', 'a"', ['c']] }, granted: [] },
  { name: 'no such claim', claims: {}, granted: [] },
  { name: 'no claims, as a schema may leave them', claims: undefined, granted: [] },
])('grantedScopes reads $name', ({ claims, granted }) => {
  const header = { alg: 'RS512' }
  expect([...grantedScopes({ claims, header, token: 'a.b.c' })]).toEqual(granted)
})
