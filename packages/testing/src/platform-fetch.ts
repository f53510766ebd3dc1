// The kit has the same, beside what answers are read with, which is tested with this package: it uses none of that.

/** Looked up at each call, so that replacing the global works. */
export const platformFetch = async (
  ...args: Parameters<typeof globalThis.fetch>
): Promise<Response> => await globalThis.fetch(...args)
