import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import {
  CompilerState,
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
} from '@microsoft/api-extractor'

import { entriesOf, type Entry, root } from './entries.ts'

// What the packages export, as one text for each module in docs/api, so that each change of it is seen in a review. The second
// half of `pnpm write`; with `--check`, as .ci/run runs it, it fails if one of them differs. The types are read as published.

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })

const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.base.json'), 'utf8')) as {
  compilerOptions: Readonly<Record<string, unknown>>
}
const quiet = { default: { logLevel: ExtractorLogLevel.None } }

const entries = entriesOf()
const [first] = entries
if (first === undefined) throw new Error('no package exports anything')
// One program for all of them: with one for each, the types of Node and of frameworks are read again and again.
const compilerState = CompilerState.create(configOf(first))

const changed = entries.filter(differs)
for (const entry of changed)
  console.log(`docs/api/${fileOf(entry)} ${values.check ? 'differs' : 'is rewritten'}`)
if (values.check && changed.length > 0) {
  console.error(
    'What the packages export has changed. Run `pnpm write`, and review the difference in docs/api.',
  )
  process.exitCode = 1
}

function configOf(entry: Entry): ExtractorConfig {
  const { lib, target, module } = compilerOptions
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder: join(root, entry.folder),
      mainEntryPointFilePath: join(root, entry.types),
      newlineKind: 'lf',
      compiler: {
        overrideTsconfig: {
          // As of a user: without the condition that leads to the sources.
          compilerOptions: {
            lib,
            target,
            module,
            types: ['node'],
            strict: true,
            skipLibCheck: true,
          },
          files: entries.map(({ types }) => join(root, types)),
        },
      },
      apiReport: {
        enabled: true,
        // What users see in the types of others is public as well.
        includeForgottenExports: true,
        reportFileName: fileOf(entry),
        reportFolder: join(import.meta.dirname, 'api'),
        reportTempFolder: join(import.meta.dirname, '.api'),
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
        // What it says of comments: typedoc reads them, not this.
        tsdocMessageReporting: quiet,
        extractorMessageReporting: quiet,
      },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(root, entry.folder, 'package.json'),
  })
}

/** Without `--check` the text is written then. */
function differs(entry: Entry): boolean {
  const { apiReportChanged, errorCount } = Extractor.invoke(configOf(entry), {
    compilerState,
    localBuild: !values.check,
    messageCallback(message) {
      message.handled = message.logLevel !== ExtractorLogLevel.Error
    },
  })
  if (errorCount > 0) throw new Error(`the types of ${entry.module} cannot be read`)
  return apiReportChanged
}

function fileOf({ module: name }: Entry): string {
  return `${name.replace('@portcullis/', '').replaceAll('/', '-')}.api.md`
}
