// How a private field comes to be on an object that somebody else has made. A `WeakMap` would be the plain form, but each minor garbage
// collection looks at all its entries, one for each request: docs/decisions/06-private-fields.md.

/** Returns an object that it is given, so that the private fields of a subclass come into being there. */
// oxlint-disable-next-line typescript/no-extraneous-class -- only a class can be extended
export class Marked {
  constructor(subject: object) {
    // oxlint-disable-next-line no-constructor-return -- what this class is for
    return subject
  }
}
