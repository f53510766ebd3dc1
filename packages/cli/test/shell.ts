import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** What a shell makes of a printed command: the words that follow the name of the program, however that was started. */
export async function wordsOf(command: string): Promise<readonly string[]> {
  const script = `portcullis() { printf '%s\\0' "$@"; }; npx() { shift; portcullis "$@"; }; ${command}`
  const { stdout } = await promisify(execFile)('sh', ['-c', script])
  return stdout.split('\0').slice(0, -1)
}
