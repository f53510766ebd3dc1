import { basename, dirname } from 'node:path'

import { expect, test } from 'vitest'

import { skillOf } from '../../docs/skills.ts'
import { manifestPaths } from '../publishing/published.ts'

const folders = manifestPaths.map((path) => basename(dirname(path)))

test.each(folders)('SKILL.md of %s has what an agent needs, and is short', (folder) => {
  const skill = skillOf(folder)
  expect(skill).toMatch(
    new RegExp(
      `^---\\nname: portcullis-${folder}\\ndescription: ".{40,1024}"\\n---\\n\\n# @portcullis/${folder}\\n`,
    ),
  )
  expect(skill).toMatch(/^```(?:sh|ts)\n/m)
  expect(skill).not.toMatch(/\]\(/)
  expect(skill.split(/\s+/).length).toBeLessThan(1600)
})
