import { join } from 'node:path'

import { choose, type Programs, run, tell } from './choose.ts'

// Draws pictures, by name: `node test/draw.ts NAME`.

const PROGRAMS: Programs = {
  alarms: {
    file: 'simulation/alarms/picture.ts',
    does: 'the picture of alarms in OPERATING.md of core, of a run with a real Prometheus',
  },
  rotation: { file: 'bench/rotation-pictures.ts', does: 'the pictures of KEYS.md in core' },
  comparison: {
    file: 'bench/rotation-comparison.ts',
    does: 'the picture of README.md: a rotation and an outage, beside jose',
  },
  try: {
    file: 'programs/try/picture.ts',
    options: ['--disable-warning=ExperimentalWarning'],
    does: 'the picture of `portcullis try` in README.md, of a run of a minute',
  },
  console: {
    file: 'programs/console/screenshots.ts',
    options: ['--disable-warning=ExperimentalWarning'],
    does: 'the console in both colour schemes and at three widths; FOLDER: where to',
  },
}

const [name, ...flags] = process.argv.slice(2)
const program = choose('draw', PROGRAMS, name)
if (typeof program === 'string') tell(program, name)
else {
  const script = join(import.meta.dirname, program.file)
  const options = ['--conditions=@portcullis/source', ...(program.options ?? [])]
  process.exitCode = run(process.execPath, [...options, script, ...flags])
}
