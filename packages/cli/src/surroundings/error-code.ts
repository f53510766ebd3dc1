// What the program may show of an error of Node.

/** The code of an error of the platform, such as ENOENT: its message shows more than a user should read. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}
