import { equal, match } from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { type IdentityProvider, identityProvider } from '../../documents/identity-provider.ts'
import { type RedisServer, startRedis } from '../../simulation/redis/redis-server.ts'
import { containsOnlyWhatIsMeant } from '../packed/contents.ts'
import { checkFirstMinutes } from '../packed/first-minutes.ts'
import { createReport, mustRun, run } from '../packed/report.ts'
import { type Publisher, publishAll } from '../release/publish.ts'
import { formerRelease, nextRelease } from './candidates.ts'
import { tryCommands } from './commands.ts'
import { type Folder, mustType, type } from './folder.ts'
import { type Manager, MANAGER_PACKAGES, managersIn } from './managers.ts'
import { asVersion, type Seen, seenBy, shown, SITUATIONS, type Versions } from './peers.ts'
import { type Example, EXAMPLES, installingAll, installingLines, tryExample } from './readmes.ts'
import { startRegistry } from './registry.ts'
import { addedSizes, shownSize } from './sizes.ts'
import { besideEachOther } from './streams.ts'
import { hasOneCore, upgradeAndBack } from './upgrade.ts'
import { publisherOf, userOf } from './user.ts'

// A release, rehearsed: `pnpm release rehearse`. It makes the next release of this commit in a clone, publishes it to a registry of its own
// by the code of the workflow, and then does with four package managers what the READMEs promise. It needs the network, for what is not
// ours, a Redis server, and port 4010. It ends by itself and leaves nothing.

const SCOPE = '@portcullis'
const CORE = `${SCOPE}/core`
const FORMER = '1.0.0-rc.1'
/** Of core: a version on which a package of others insists. */
const LATER = '1.0.1'

/** What every step needs. */
interface World {
  readonly env: NodeJS.ProcessEnv
  readonly provider: IdentityProvider
  readonly redis: RedisServer
  readonly managers: readonly Manager[]
  readonly versions: Versions
}

const work = mkdtempSync(join(tmpdir(), 'portcullis-rehearsal-'))
const report = createReport()
try {
  await rehearse()
} finally {
  rmSync(work, { recursive: true, force: true })
}
const failures = report.failures()
console.log(failures === 0 ? 'rehearsed: all passed' : `rehearsed: ${failures} failed`)
process.exitCode = failures === 0 ? 0 : 1

async function rehearse(): Promise<void> {
  await using registry = await startRegistry(SCOPE)
  await using provider = await identityProvider()
  await using redis = await startRedis()
  const env = userOf(registry, SCOPE, join(work, 'home'))
  const next = await publishReleases({ env: publisherOf(registry, env), provenance: false })
  for (const each of registry.published) console.log(`published  ${each}`)

  const versions = { next, former: FORMER, later: LATER }
  const world = { env, provider, redis, versions, managers: await managersFor(env) }
  await attempt('npx @portcullis/cli try, serve, mint and explain, as written', async () => {
    await tryCommands(join(work, 'commands'), env, provider)
  })
  const placeOf = (name: string) => `${name}@${next}`
  const node = process.execPath
  await checkFirstMinutes(
    { folder: join(work, 'first'), placeOf, node, reasons: 'each', env },
    report,
  )
  await tryReadmes(world)
  await tryVersions(world)
  await tellSizes(world)
  await tellPeers(world)
}

/** Answers the version of this one. Beside its tags: whoever wants another one names it. */
async function publishReleases(publisher: Publisher): Promise<string> {
  const { release, tarballs } = await nextRelease(work)
  for (const [name, tarball] of tarballs) {
    const listing = ['tar', '-tvzf', tarball]
    await report.check(`contents of ${name}`, listing, work, containsOnlyWhatIsMeant)
  }
  await publishAll(release, tarballs, publisher)
  // As when a run has broken off: nothing is published twice.
  await publishAll({ ...release, order: release.order.slice(0, 1) }, tarballs, publisher)
  const former = await formerRelease(FORMER, work)
  await publishAll({ ...former.release, distTag: 'former' }, former.tarballs, publisher)
  const core = await asVersion(tarballs.get(CORE) ?? '', LATER, join(work, 'later'))
  const later = { ...release, version: LATER, distTag: 'later', order: [CORE] }
  await publishAll(later, new Map([[CORE, core]]), publisher)
  return release.version
}

async function managersFor(env: NodeJS.ProcessEnv): Promise<readonly Manager[]> {
  const tools = join(work, 'tools')
  mkdirSync(tools)
  writeFileSync(join(tools, 'package.json'), JSON.stringify({ dependencies: MANAGER_PACKAGES }))
  await mustRun(['npm', 'install'], tools, env)
  return managersIn(tools)
}

/** With npm each README in a folder of its own; with the others all that need no compiler in one folder. */
async function tryReadmes(world: World): Promise<void> {
  const [compiled, others] = [true, false].map((which) =>
    EXAMPLES.filter(({ isCompiled = false }) => isCompiled === which),
  )
  for (const manager of world.managers) {
    if (manager.name === 'npm') {
      for (const example of EXAMPLES) await tryTogether(manager, [example], world)
    } else {
      await tryTogether(manager, others ?? [], world)
      await tryTogether(manager, compiled ?? [], world)
    }
  }
}

async function tryTogether(manager: Manager, examples: readonly Example[], world: World) {
  const [first] = examples
  if (first === undefined) return
  const files = first.isCompiled === true ? manager.filesForCompilers : undefined
  const folder = makeFolder(`readme-${first.readme.replaceAll('/', '-')}`, manager, world, files)
  const lines = examples.length > 1 ? installingAll(examples) : installingLines(first.readme)
  await attempt(`${manager.name}: ${lines.join('; ')}`, async () => {
    for (const line of lines) await mustType(line, folder)
  })
  for (const example of examples) {
    await attempt(`${manager.name}: the example of ${example.readme}`, async () => {
      await tryExample(example, { ...world, folder })
    })
  }
}

/** The candidate before, beside this one and on the way to it. */
async function tryVersions(world: World): Promise<void> {
  const [npm] = world.managers
  if (npm === undefined) return
  const { next, former } = world.versions
  const folder = makeFolder('all', npm, world)
  await attempt('npm ls @portcullis/core shows one copy, of all packages', async () => {
    for (const line of installingAll(EXAMPLES)) await mustType(line, folder)
    await hasOneCore(folder)
  })
  await attempt(`from ${former} to ${next} by UPGRADING.md, and back`, async () => {
    await upgradeAndBack(makeFolder('upgrade', npm, world), former)
  })
  await attempt('both versions on one Redis stream', async () => {
    const homes = [former, next].map((version) => makeFolder(`redis-${version}`, npm, world))
    for (const [at, version] of [former, next].entries()) {
      const names = ['core', 'redis', 'testing'].map((name) => `${SCOPE}/${name}@${version}`)
      const home = homes[at]
      if (home !== undefined) await mustType(`npm install ${names.join(' ')}`, home)
    }
    const [before, after] = homes.map(({ path }) => path)
    for (const line of await besideEachOther(before ?? '', after ?? '', world.redis))
      console.log(`  ${line}`)
  })
}

async function tellSizes({ env }: World): Promise<void> {
  await attempt('what npm install adds to Express: packages, files, octets', async () => {
    const sizes = await addedSizes(join(work, 'sizes'), env)
    for (const [row, size] of Object.entries(sizes)) console.log(`  ${row}: ${shownSize(size)}`)
  })
}

async function tellPeers(world: World): Promise<void> {
  const all: Seen[] = []
  for (const manager of world.managers) {
    for (const core of SITUATIONS) {
      const folder = makeFolder(`core-${core.replaceAll(' ', '-')}`, manager, world)
      all.push(await seenBy(folder, core, world.versions))
    }
  }
  console.log(shown(all))
  await attempt('two copies of core: our own sentence comes first', async () => {
    const twice = all.filter(({ core }) => core === 'there twice')
    for (const { application } of twice)
      match(application, /^TypeError: authenticate: .* is of another copy of @portcullis\/core: /)
    equal(twice.length, world.managers.length)
    await Promise.resolve()
  })
  await attempt('doctor says first that core is missing, where pnpm has left it out', async () => {
    const folder = join(work, 'pnpm', 'core-missing')
    const { stdout } = await run(['npx', '@portcullis/cli', 'doctor'], folder, world.env)
    match(stdout, /^ *FAIL +core +not installed, and needed by @portcullis\/express: npm/)
  })
  const yarn = world.managers.find(({ name }) => name === 'yarn')
  if (yarn === undefined) return
  await attempt('Yarn holds back what is younger than a day', async () => {
    const folder = makeFolder('young', yarn, world, { 'package.json': '{}' })
    const { status, stdout } = await type(`npm install ${CORE}`, folder)
    equal(status, 1)
    match(stdout, /quarantined/)
  })
}

function makeFolder(
  name: string,
  manager: Manager,
  { env }: World,
  files: Readonly<Record<string, string>> = manager.files,
): Folder {
  const path = join(work, manager.name, name)
  mkdirSync(path, { recursive: true })
  for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text)
  return { path, manager, env }
}

async function attempt(title: string, trying: () => Promise<void>): Promise<void> {
  const begun = performance.now()
  const complaint = await trying().then(
    () => undefined,
    (error: unknown) => String(error),
  )
  report.tell(`${title} (${((performance.now() - begun) / 1000).toFixed(1)} s)`, complaint)
}
