import { VERSION } from './version.ts'

// Which copy of core has made an object. Two copies in one process share no class, no WeakMap and no private field, so an object of the one
// is a stranger to the other: what matters is then missing without a word. docs/identities.md has the table.

interface Copy {
  readonly version: string
  readonly path: string
}

/** From the registry of symbols, so that copies see each other's marks. */
const COPY: unique symbol = Symbol.for('@portcullis/core copy')

const THIS_COPY: Copy = Object.freeze({
  version: VERSION,
  // Read for a message alone.
  get path() {
    return ownPath()
  },
})

/** Not enumerable, so that no copy, comparison or inspection of an object has it. Without a prototype: a `get` may be inherited. */
const MARK = Object.freeze({ __proto__: null, value: THIS_COPY }) as PropertyDescriptor

/** Marks what this copy has made. */
export function marked<Made extends object>(made: Made): Made {
  return Object.defineProperty(made, COPY, MARK)
}

/**
 * Says that another copy has made a value, if it carries the mark of one. A value without a mark passes: it may come from a stub.
 *
 * @returns What is wrong, to follow the name of the value.
 */
export function foreignness(value: unknown): string | undefined {
  const other = otherCopy(value)
  return other === undefined
    ? undefined
    : `is of another copy of @portcullis/core: ${bothCopies(other.copy)}`
}

/** @throws TypeError if another copy has made the value. */
export function checkCopy(caller: string, noun: string, value: unknown): void {
  refuse(caller, noun, otherCopy(value))
}

/** An object of the other copy, since its mark may be of any shape: another version may have made it. */
function otherCopy(value: unknown): Pick<Witness, 'copy'> | undefined {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
  if (!isObject || !Object.hasOwn(value, COPY)) return undefined
  const copy = Reflect.get(value, COPY) as Copy
  return copy === THIS_COPY ? undefined : { copy }
}

function refuse(caller: string, noun: string, other: Pick<Witness, 'copy'> | undefined): void {
  if (other === undefined) return
  // Mistake error-is-of-another-copy `…: … is of another copy of @portcullis/core`: Two copies of core are in one process. `npm
  // ls @portcullis/core` shows which package brings the second one: let one version fit all, and install again. A test that loads
  // modules anew makes the others anew as well.
  throw new TypeError(
    `${caller}: ${noun} is of another copy of @portcullis/core: ${bothCopies(other.copy)}`,
  )
}

/** What a copy tells the others about objects that carry no mark, since they are not its own. */
interface Witness {
  readonly copy: Copy
  readonly hasSeen: (subject: object) => boolean
}

const WITNESSES: unique symbol = Symbol.for('@portcullis/core witnesses')

/**
 * Lets other copies ask whether a guard of this one has seen a request: a request carries nothing that others could read. Whoever
 * calls this keeps the answer: a copy that was dropped, as when a test loads its modules anew, is not kept by the others.
 */
export function bearWitness(hasSeen: (subject: object) => boolean): object {
  const witness: Witness = { copy: THIS_COPY, hasSeen }
  // Cloudflare Workers have it since May 2025.
  if (!('WeakRef' in globalThis)) return witness
  const value = [...witnesses().map((each) => new WeakRef(each)), new WeakRef(witness)]
  // Where the global object is frozen, the message of another copy says less.
  Reflect.defineProperty(globalThis, WITNESSES, {
    __proto__: null,
    value,
    configurable: true,
  } as PropertyDescriptor)
  return witness
}

/** @throws TypeError if a guard of another copy has seen the request. */
export function checkWitnesses(caller: string, subject: unknown): void {
  if (typeof subject !== 'object' || subject === null) return
  const other = witnesses().find(({ copy, hasSeen }) => copy !== THIS_COPY && hasSeen(subject))
  refuse(caller, 'the guard of the request', other)
}

function witnesses(): readonly Witness[] {
  const found: unknown = Object.hasOwn(globalThis, WITNESSES)
    ? Reflect.get(globalThis, WITNESSES)
    : undefined
  const list = Array.isArray(found)
    ? (found as readonly unknown[] as readonly WeakRef<Witness>[])
    : []
  return list.flatMap((each) => (each instanceof WeakRef ? (each.deref() ?? []) : []))
}

function bothCopies(other: unknown): string {
  return `that one is ${shown(other)}, this one ${shown(THIS_COPY)}; \`npm ls @portcullis/core\` shows who brings them`
}

function shown(copy: unknown): string {
  const { version, path } = Object(copy) as Record<keyof Copy, unknown>
  return `${String(version)} in ${String(path)}`
}

/** By a stack, since `import.meta` is a syntax error where a tool has made a CommonJS module of this one, as for Jest. */
function ownPath(): string {
  const { stack } = new Error('where this file is')
  const [, place = 'an unknown place'] =
    /^\s*at (?:.*? \()?(.+?):\d+:\d+\)?$/m.exec(String(stack)) ?? []
  return place.replace(/^file:\/\//, '')
}
