// Whether a text is like the base64url of a JSON object, for readers of all kinds: the ones that are not strict are not ours.

/** Characters. So much of it mostly tells. */
const BEGINNING = 64

/** Characters. No part of a token that a reader takes begins with so much white space. */
const LONGEST_SPACE = 8192

/** Whether any reader might take a text for the base64url of a JSON object. It looks at the beginning alone. */
export function isLikeEncodedObject(encoded: string): boolean {
  return (
    beginsAsObject(encoded.slice(0, BEGINNING)) ??
    beginsAsObject(encoded.slice(0, LONGEST_SPACE)) ??
    encoded.length > LONGEST_SPACE
  )
}

/** What follows the brace of an object: a name, or its end. One in 240 random texts begins with a brace, one in 30,000 so. RFC 8259 */
const OBJECT = /^\s*\{\s*["}]/
/** More of the text has to be read. */
const UNDECIDED = /^\s*(?:\{\s*)?$/

/** What is of neither alphabet of base64: some readers pass over it, some end there, and some take it for another character. */
const NO_BASE64 = /[^\w+/-]/g

/** Whether a reader finds the beginning of a JSON object; `undefined` if one finds too little to tell. */
function beginsAsObject(encoded: string): boolean | undefined {
  const plain = encoded.replace(NO_BASE64, '')
  const readings = plain === encoded ? [plain] : [plain, encoded]
  const texts = readings.map((each) => Buffer.from(each, 'base64url').toString())
  if (texts.some((text) => OBJECT.test(text))) return true
  return texts.some((text) => UNDECIDED.test(text)) ? undefined : false
}
