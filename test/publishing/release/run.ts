import { join } from 'node:path'

import { choose, type Programs, run, tell } from '../../choose.ts'

// What is done around a release, by name: `pnpm release NAME`. RELEASING.md says when.

const PROGRAMS: Programs = {
  'dry-run': {
    file: 'release.ts',
    flags: ['--dry-run'],
    does: 'shows what would be published, and publishes nothing',
  },
  publish: { file: 'release.ts', does: 'publishes the family; only the workflow release can' },
  rehearse: {
    file: '../rehearsal/rehearse.ts',
    options: ['--conditions=@portcullis/source'],
    does: 'publishes to a registry on this machine, and does what the READMEs say with it',
  },
  sbom: { file: 'sbom.ts', does: 'what each package contains, as CycloneDX, in coverage/sbom' },
  version: { file: 'version.ts', does: 'writes the version of core into its source' },
  jsr: { file: 'jsr.ts', does: 'whether JSR would take the packages' },
  repository: {
    file: 'repository.ts',
    does: 'writes into each package where its sources are: URL',
  },
  lockfile: {
    file: '../packed/platforms.ts',
    does: 'looks for install scripts on all platforms; downloads 1 GB',
  },
}

const [name, ...flags] = process.argv.slice(2)
const program = choose('release', PROGRAMS, name)
if (typeof program === 'string') tell(program, name)
else {
  const script = join(import.meta.dirname, program.file)
  const { options = [], flags: own = [] } = program
  process.exitCode = run(process.execPath, [...options, script, ...own, ...flags])
}
