import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { nodeIn } from './consumers.ts'
import { type Examine, type Report, succeedsInSilence } from './report.ts'
import type { NodeVersion } from './versions.ts'

// What a compiler makes of a program of the consumer, and that it runs.

/** A file that is compiled with some options, in a folder of its own. */
export interface Project {
  readonly title: string
  readonly folder: string
  /** Of the consumer. */
  readonly file: string
  readonly type: 'commonjs' | 'module'
  readonly options: Readonly<Record<string, unknown>>
  /** Why it does not compile. */
  readonly error?: string | undefined
  /** What it is run on. */
  readonly nodes: readonly NodeVersion[]
  /** What it prints then. */
  readonly output?: string | undefined
}

/** Of the consumer: what its compiler writes. */
export function programOf({ folder, file }: Project): string {
  return join(folder, 'dist', file.replace(/\.ts$/, '.js'))
}

/** Runs what came of a project. What many settings and compilers make alike runs once on each Node. */
export function projectRunner(
  consumer: string,
  report: Report,
): (project: Project) => Promise<void> {
  /** The titles of those that run, by what they are made of. */
  const running = new Map<string, string>()

  return async (project) => {
    const { title, nodes, output } = project
    for (const node of nodes) {
      const made = `${node} ${everythingOf(project, consumer)}`
      const other = running.get(made)
      running.set(made, other ?? title)
      if (other === undefined) {
        const command = [nodeIn(consumer, node), programOf(project)]
        await report.check(`${title}: runs on Node ${node}`, command, consumer, printsOnly(output))
      } else report.tell(`${title}: is the same on Node ${node} as ${other}`, undefined)
    }
  }
}

/** Where it finds packages, how Node takes it, what it prints, and all of its files. */
function everythingOf({ folder, type, output }: Project, consumer: string): string {
  const cwd = join(consumer, folder, 'dist')
  const files = globSync('**/*.js', { cwd }).toSorted()
  const texts = files.map((file) => [file, readFileSync(join(cwd, file), 'utf8')])
  return JSON.stringify([dirname(folder), type, output, texts])
}

function printsOnly(output = ''): Examine {
  return (outcome) =>
    succeedsInSilence(outcome) ??
    (outcome.stdout.trim() === output ? undefined : `it prints ${outcome.stdout}, not ${output}`)
}
