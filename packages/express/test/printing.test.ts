import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

// What Express sends and prints of a refusal when the application has no error handler.

const LINE = 'AuthError: An access token is required'

test('Express prints each refusal as one line, in every mode but test, and respond: problem avoids it', async () => {
  const { sent, printed } = await scenes()
  for (const major of ['5', '4']) {
    for (const mode of ['unset', 'development', 'production', 'test']) {
      const problem = `${major} ${mode} problem`
      expect(JSON.parse(sent.get(problem) ?? '')).toMatchObject({ code: 'missing_token' })
      expect(printed.get(problem)).toBe('')

      const forward = `${major} ${mode} forward`
      const body = mode === 'production' ? 'Unauthorized' : LINE
      expect(sent.get(forward)).toContain(`<pre>${body}</pre>`)
      const lines = (printed.get(forward) ?? '').split('\n').filter((line) => line !== '')
      expect([forward, lines.map((line) => line.slice(0, LINE.length))]).toEqual([
        forward,
        mode === 'test' ? [] : [LINE],
      ])
    }
  }
})

async function scenes() {
  const flags = ['--conditions=@portcullis/source', '--disable-warning=ExperimentalWarning']
  const program = fileURLToPath(new URL('printing.ts', import.meta.url))
  // The mode that Express has by itself.
  const { NODE_ENV: _mode, ...env } = process.env
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...flags, program], {
    env,
  })
  return { sent: byScene(stdout), printed: byScene(stderr) }
}

function byScene(output: string): ReadonlyMap<string, string> {
  return new Map(
    output
      .split('--- ')
      .slice(1)
      .map((scene) => {
        const end = scene.indexOf('\n')
        return [scene.slice(0, end), scene.slice(end + 1)]
      }),
  )
}
