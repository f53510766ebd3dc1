import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

import type { Registry } from './registry.ts'

// Users of a registry: each has a home of their own, so that no setting and no cache of whoever rehearses has a part in it.

/** Where everything comes from that is not ours. */
function otherRegistry(): string {
  return execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim()
}

/**
 * The environment of a user who has Node and npm, and no settings but where the packages are.
 *
 * @param home A folder for it.
 * @param scope Such as `@acme`.
 */
export function userOf(
  { url }: Pick<Registry, 'url'>,
  scope: string,
  home: string,
): NodeJS.ProcessEnv {
  const others = otherRegistry()
  mkdirSync(home, { recursive: true })
  // pnpm and Bun read it as well. `yes` is what one answers to npx.
  const npmrc = [`registry=${others}`, `${scope}:registry=${url}`, 'yes=true', ...QUIET]
  writeFileSync(join(home, '.npmrc'), `${npmrc.join('\n')}\n`)
  const yarn = {
    npmRegistryServer: others,
    npmScopes: { [scope.slice(1)]: { npmRegistryServer: url } },
    unsafeHttpWhitelist: ['127.0.0.1'],
    enableTelemetry: false,
  }
  // JSON is valid YAML.
  writeFileSync(join(home, '.yarnrc.yml'), JSON.stringify(yarn))
  const own = /^(?:npm|pnpm|yarn|bun)_|^(?:CI|INIT_CWD|NODE_OPTIONS|XDG_.*|GITHUB_.*)$/i
  const kept = Object.entries(process.env).filter(([name]) => !own.test(name))
  const path = [dirname(process.execPath), process.env['PATH']].join(delimiter)
  return { ...Object.fromEntries(kept), HOME: home, PATH: path }
}

/** What asks the network, or prints what changes from day to day. */
const QUIET = ['audit=false', 'fund=false', 'update-notifier=false']

/** The same user, who may publish there. */
export function publisherOf({ url, token }: Registry, user: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const settings = join(user['HOME'] ?? '', 'publisher.npmrc')
  writeFileSync(settings, `registry=${url}\n${url.replace('http:', '')}:_authToken=${token}\n`)
  return { ...user, npm_config_userconfig: settings, npm_config_loglevel: 'error' }
}
