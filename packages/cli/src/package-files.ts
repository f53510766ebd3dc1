// Where the files of the package are. Wherever this is built to, it is one folder below them: in `src`, and in `dist`.

export const MANIFEST: URL = new URL('../package.json', import.meta.url)

/** What a browser is given. */
export const BROWSER: URL = new URL('../browser/', import.meta.url)
