import { usageError } from '../surroundings/exit-code.ts'

// What the secret of the control interface may be.

const VISIBLE = /^[\x21-\x7e]+$/
/** Characters. */
const SHORTEST = 16

/** The secret of the control interface that a user has set; `undefined` if none is set. @throws CommandError */
export function statedSecret({ PORTCULLIS_SECRET: secret = '' }: SecretHolder): string | undefined {
  if (secret === '') return undefined
  if (!VISIBLE.test(secret)) {
    throw usageError('PORTCULLIS_SECRET must have visible ASCII characters alone')
  }
  return secret
}

interface SecretHolder {
  readonly PORTCULLIS_SECRET?: string | undefined
}

/** Others can try as many as they like. @throws CommandError */
export function checkStrength(secret: string): void {
  if (secret.length < SHORTEST) {
    throw usageError(
      `PORTCULLIS_SECRET must have at least ${SHORTEST} characters where others can reach the service; without it, serve makes one`,
    )
  }
}
