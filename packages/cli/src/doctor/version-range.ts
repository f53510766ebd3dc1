// Version ranges as our packages and frameworks state them, without the package semver. A form that is not known here is never guessed at.

type Version = readonly [major: number, minor: number, patch: number]

const COMPARATOR =
  /^(?<sign>\^|~|>=|<=|>|<|=|)v?(?<major>\d+)(?:\.(?<minor>\d+|x|\*))?(?:\.(?<patch>\d+|x|\*))?$/

/** `undefined` for a range that cannot be read: there are more forms. What is behind a hyphen does not count. */
export function isInRange(version: string, range: string): boolean | undefined {
  const found = readVersion(version)
  if (found === undefined) return undefined
  const sets = range.split('||').map((text) => comparatorsIn(text, found))
  if (sets.includes(undefined)) return undefined
  return sets.some((set) => set?.every(Boolean))
}

function readVersion(text: string): Version | undefined {
  const [, major, minor, patch] = /^v?(\d+)\.(\d+)\.(\d+)/.exec(text) ?? []
  return major === undefined ? undefined : [Number(major), Number(minor), Number(patch)]
}

function comparatorsIn(text: string, version: Version): readonly boolean[] | undefined {
  const words = text
    .replaceAll(/([<>=^~])\s+/g, '$1')
    .split(/\s+/)
    .filter((word) => word !== '' && word !== '*')
  const answers = words.map((word) => isMetBy(word, version))
  return answers.every((each) => each !== undefined) ? answers : undefined
}

function isMetBy(word: string, version: Version): boolean | undefined {
  const groups = COMPARATOR.exec(word)?.groups
  if (groups === undefined) return undefined
  const [major, minor, patch] = [groups['major'], groups['minor'], groups['patch']].map(numberIn)
  if (major === undefined) return undefined
  const from: Version = [major, minor ?? 0, patch ?? 0]
  const next = nextOf(major, minor, patch)
  const isFrom = compared(version, from) >= 0
  switch (groups['sign']) {
    case '>=':
      return isFrom
    case '>':
      return compared(version, next) >= 0
    case '<':
      return !isFrom
    case '<=':
      return compared(version, next) < 0
    case '^':
      return isFrom && compared(version, nextBreaking(major, minor, patch)) < 0
    case '~':
      return isFrom && compared(version, nextOf(major, minor, undefined)) < 0
    default:
      return isFrom && compared(version, next) < 0
  }
}

function numberIn(text: string | undefined): number | undefined {
  return text === undefined || !/^\d+$/.test(text) ? undefined : Number(text)
}

/** The first version that is none of those which are written so. */
function nextOf(major: number, minor: number | undefined, patch: number | undefined): Version {
  if (minor === undefined) return [major + 1, 0, 0]
  return patch === undefined ? [major, minor + 1, 0] : [major, minor, patch + 1]
}

function nextBreaking(
  major: number,
  minor: number | undefined,
  patch: number | undefined,
): Version {
  if (major > 0 || minor === undefined) return [major + 1, 0, 0]
  return minor > 0 ? [0, minor + 1, 0] : nextOf(0, 0, patch)
}

function compared(one: Version, other: Version): number {
  return one.map((part, index) => part - (other[index] ?? 0)).find((each) => each !== 0) ?? 0
}
