import {
  chmod,
  chown,
  readdir,
  readFile,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { readKeyFile, writeSecretFile } from '../../src/serve/key-file.ts'

const isPosix = process.platform !== 'win32'

describe('a secret file', () => {
  test('is new, for its owner alone, and nothing is left beside it', async () => {
    const at = temporaryFolder()
    const path = join(at, 'key.json')
    await writeSecretFile(path, 'one')
    await writeSecretFile(path, 'two')
    expect(await readFile(path, 'utf8')).toBe('two')
    expect(await readdir(at)).toEqual(['key.json'])
    const { mode } = await stat(path)
    expect(isPosix ? mode & 0o777 : 0o600).toBe(0o600)
  })

  test('that is written ten times at once is one of the texts, and no write meets another', async () => {
    const at = temporaryFolder()
    const path = join(at, 'key.json')
    const texts = Array.from({ length: 10 }, (_, number) => String(number).repeat(10_000))
    await Promise.all(
      texts.map(async (text) => {
        await writeSecretFile(path, text)
      }),
    )
    expect(texts).toContain(await readFile(path, 'utf8'))
    expect(await readdir(at)).toEqual(['key.json'])
  })

  test.runIf(isPosix)('does not go where a link that was planted beside it points', async () => {
    const at = temporaryFolder()
    const theirs = join(at, 'theirs')
    await writeFile(theirs, '')
    await symlink(theirs, join(at, `key.json.${process.pid}.tmp`))
    await writeSecretFile(join(at, 'key.json'), 'geheim')
    expect(await readFile(theirs, 'utf8')).toBe('')
  })

  test.runIf(isPosix)('replaces a link in its place, and leaves what it points to', async () => {
    const at = temporaryFolder()
    const theirs = join(at, 'theirs')
    await writeFile(theirs, '')
    await symlink(theirs, join(at, 'key.json'))
    await writeSecretFile(join(at, 'key.json'), 'geheim')
    expect(await readFile(theirs, 'utf8')).toBe('')
    expect(await readFile(join(at, 'key.json'), 'utf8')).toBe('geheim')
  })

  test('that cannot be put in its place leaves nothing', async () => {
    const at = temporaryFolder()
    const path = join(at, 'folder', 'key.json')
    await expect(writeSecretFile(path, 'geheim')).rejects.toThrow('cannot be written (ENOENT)')
    expect(await readdir(at)).toEqual([])
  })
})

describe.runIf(isPosix)('a key file', () => {
  const pem = '-----BEGIN PRIVATE KEY-----'

  async function keyFile(): Promise<string> {
    const path = join(temporaryFolder(), 'key.pem')
    await writeFile(path, pem, { mode: 0o600 })
    return path
  }

  test('of ours is read', async () => {
    expect(await readKeyFile(await keyFile())).toBe(pem)
  })

  test('that is not there is no mistake', async () => {
    expect(await readKeyFile(join(temporaryFolder(), 'key.pem'))).toBeUndefined()
  })

  test('of another user is refused', async () => {
    // Whoever is no superuser cannot give a file away, but finds one of the superuser.
    const isSuperuser = process.getuid?.() === 0
    const path = isSuperuser ? await keyFile() : '/etc/passwd'
    if (isSuperuser) await chown(path, 65_534, 65_534)
    await expect(readKeyFile(path)).rejects.toThrow('belongs to another user')
  })

  test('that others can read is refused', async () => {
    const path = await keyFile()
    await chmod(path, 0o640)
    await expect(readKeyFile(path)).rejects.toThrow('can be read by others; run: chmod 600')
  })

  test('that is a link is refused, also to a key of ours', async () => {
    const path = join(temporaryFolder(), 'link.pem')
    await symlink(await keyFile(), path)
    await expect(readKeyFile(path)).rejects.toThrow('is a link: state the file itself')
  })

  test('that is a folder is refused', async () => {
    await expect(readKeyFile(temporaryFolder())).rejects.toThrow('is no file')
  })

  test('that is larger than keys are is refused before it is read', async () => {
    const path = await keyFile()
    await truncate(path, 2 ** 40)
    await expect(readKeyFile(path)).rejects.toThrow('is too large for a key')
  })
})
