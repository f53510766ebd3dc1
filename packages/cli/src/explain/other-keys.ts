import { keysAt, type KeyOptions, placeIn } from '../keys/key-choice.ts'
import { usageError } from '../surroundings/exit-code.ts'
import type { Context } from '../surroundings/terminal.ts'

// The option `--other` of `explain`: keys of other environments, by which a token is recognised and not trusted.

/** What an explanation calls the keys that tokens are judged by. */
const RESERVED: ReadonlySet<string> = new Set(['keys', 'keysInHand'])

/** @param stated Each as `name=place`. @throws CommandError for one that cannot be read. */
export async function otherKeys(stated: readonly string[], options: KeyOptions, context: Context) {
  const places = new Map<string, string>()
  for (const text of stated) {
    const [, name, place] = /^([^=]+)=(.+)$/.exec(text) ?? []
    if (name === undefined || place === undefined) {
      throw usageError('--other must be a name, = and a URL or a file')
    }
    if (RESERVED.has(name)) throw usageError(`--other cannot be named ${name}: take another name`)
    if (places.has(name)) throw usageError(`two --other are named ${name}`)
    places.set(name, place)
  }
  return await Promise.all(
    [...places].map(async ([name, place]) => {
      const { source, failure } = await keysAt(placeIn(place), options, context)
      return { name, source, failure }
    }),
  )
}
