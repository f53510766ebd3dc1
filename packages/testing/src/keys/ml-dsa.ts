import type { Algorithm } from '@portcullis/core'

// Asks the platform whether it can make keys of ML-DSA, because not every supported Node can.

/** RFC 9964. */
export function isMlDsa(algorithm: Algorithm): boolean {
  return algorithm.startsWith('ML-DSA-')
}

/** WebCrypto makes the keys, and has no ML-DSA on older platforms. @throws TypeError */
export async function checkPlatform(
  caller: string,
  algorithm: Algorithm,
  isMlDsaThere: () => Promise<boolean> = hasMlDsa,
): Promise<void> {
  if (!isMlDsa(algorithm) || (await isMlDsaThere())) return
  throw new TypeError(
    `${caller}: algorithm ${JSON.stringify(algorithm)} needs a platform whose WebCrypto has ML-DSA, such as Node 24.7 or later, and this one has not`,
  )
}

async function hasMlDsa(): Promise<boolean> {
  try {
    await crypto.subtle.generateKey('ML-DSA-44', false, ['sign', 'verify'])
    return true
  } catch {
    return false
  }
}
