import { spawnSync } from 'node:child_process'

// What each package contains, as CycloneDX, in coverage/sbom: `pnpm release sbom`.

const own = process.env['npm_execpath']
if (own === undefined) throw new Error('run this as: pnpm release sbom')
const format = ['--sbom-format', 'cyclonedx', '--out', 'coverage/sbom/%s.cdx.json']
const args = [
  'sbom',
  ...format,
  '--prod',
  '--split',
  '--filter',
  './packages/*',
  '--filter',
  '!@portcullis/kit',
]
process.exitCode = spawnSync(own, args, { stdio: 'inherit' }).status ?? 1
