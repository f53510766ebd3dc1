import { basename, dirname } from 'node:path'

import { expect, test } from 'vitest'

import { skillOf } from '../../docs/skills.ts'
import { manifestPaths } from '../publishing/published.ts'

const folders = manifestPaths.map((path) => basename(dirname(path)))

test('SKILL.md of core is for the whole family, has what an agent needs, and is short', () => {
  const skill = skillOf('core', folders)
  expect(skill).toMatch(/^---\nname: portcullis\ndescription: ".{40,1024}"\n---\n\n# Portcullis\n/)
  for (const folder of folders) expect(skill).toContain(`- \`@portcullis/${folder}\`: `)
  expect(skill.match(/^```\w+$/gm)).toEqual(expect.arrayContaining(['```sh', '```ts']))
  expect(skill).not.toMatch(/\]\(/)
  expect(skill.split(/\s+/).length).toBeLessThan(1600)
})

test.each(folders.filter((folder) => folder !== 'core'))(
  'that of %s is one line, which leads to it',
  (folder) => {
    expect(skillOf(folder, folders)).toMatch(/^.*@portcullis\/core\/SKILL\.md.*\n$/)
  },
)
