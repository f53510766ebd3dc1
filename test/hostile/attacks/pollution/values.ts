/** Makes what each name is polluted with, by the name of the value: what is written to a list of one name is not in that of another. */
export const VALUES: Readonly<Record<string, () => unknown>> = {
  true: () => true,
  false: () => false,
  'a list': () => [],
  'an object': () => ({}),
  'a string': () => 'polluted',
  'a number': () => 1,
  'a function': () => () => true,
}
