import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { build, defaultServerConditions } from 'vite'

// The programs of the soak without types, since not every Node removes them. They lie where the frameworks are found.

const NAMES = ['api', 'caller'] as const
type ProgramName = (typeof NAMES)[number]

export interface Programs extends Disposable {
  file(name: ProgramName): URL
}

export async function bundlePrograms(): Promise<Programs> {
  const here = import.meta.dirname
  const folder = mkdtempSync(join(here, '..', '..', 'node_modules', '.soak-'))
  await build({
    configFile: false,
    publicDir: false,
    logLevel: 'error',
    // The controller of Nest is written with decorators.
    oxc: { decorator: { legacy: true } },
    ssr: {
      // What our packages need is not to be found from there.
      noExternal: [/^@portcullis\//, 'lru-cache', 'fastify-plugin'],
      resolve: { conditions: ['@portcullis/source', ...defaultServerConditions] },
    },
    build: {
      ssr: true,
      target: 'node20',
      outDir: folder,
      emptyOutDir: false,
      rolldownOptions: {
        input: NAMES.map((name) => join(here, `${name}.ts`)),
        output: { entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' },
      },
    },
  })
  return {
    file: (name) => pathToFileURL(join(folder, `${name}.mjs`)),
    [Symbol.dispose]() {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
