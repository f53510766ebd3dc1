import type { Adapter } from './framework.ts'

// One adapter without the others: a process that needs one of them loads a fifth of the packages.

/** Where it would be: some packages are of no framework. */
export const fileOf = (folder: string) => new URL(`${folder}.ts`, import.meta.url)

export async function adapterOf(folder: string): Promise<Adapter> {
  const { adapter } = (await import(fileOf(folder).href)) as { adapter: Adapter } // each exports it with this type
  return adapter
}
