// Texts of thousands of levels that end in the middle of a value. Some make V8 14.6 (Node 26) corrupt its memory when it parses
// them; the others are near those.

/** They fit into one header field beside the others of a request, encoded as a part of a token. */
export const HEADER_TEXTS: readonly string[] = [
  `${'['.repeat(8000)}${'[0,'.repeat(1250)}"`,
  `${'['.repeat(6900)}${'[0,'.repeat(1400)}"`,
  `${'['.repeat(7500)}${'[0,'.repeat(1100)}"`,
  `${'['.repeat(6900)}${'[0,'.repeat(1400)}"x"`,
  `${'['.repeat(6900)}${'[0,'.repeat(1400)}"\\u12`,
  `{"a":${'['.repeat(7000)}${'[0,'.repeat(1300)}"`,
  `{"a":1,"b":${'['.repeat(7200)}${'[[],'.repeat(1100)}"`,
  // Behind what looks like the end of a string, or like brackets that close.
  `{"\\"]]]]":${'['.repeat(7000)}${'[0,'.repeat(1300)}"`,
  `["\\\\",${'['.repeat(7000)}${'[0,'.repeat(1300)}"]]]]`,
]

/** They fit into a proof, which may have 12,288 characters with its header, its payload and its signature. */
export const PROOF_TEXTS: readonly string[] = [
  `${'['.repeat(7900)}${'[0,'.repeat(250)}"`,
  `${'['.repeat(5000)}${'[0,'.repeat(1200)}"`,
  `{"jti":${'['.repeat(7900)}${'[0,'.repeat(250)}"`,
  `${'{"a":'.repeat(1700)}"`,
  `${'[{"":'.repeat(1700)}"x`,
]

/** They fit into a body of 64 KiB as a part of a token. */
export const BODY_TEXTS: readonly string[] = [
  `${'[1,'.repeat(15_000)}"x`,
  `${'['.repeat(8000)}${'[0,'.repeat(1250)}"`,
  `${'[{"a":1,"b":'.repeat(4000)}"x`,
  `${'[[],'.repeat(11_000)}"`,
  `${'[{"":'.repeat(6000)}${'[1,'.repeat(5000)}"\\u12`,
  `${'{"a":1,"b":'.repeat(4200)}"x`,
]

export function encoded(text: string): string {
  return Buffer.from(text).toString('base64url')
}
