import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'

import { run } from '../../packages/redis/src/program/program.ts'
import { versionInCatalog } from '../frameworks/packages.ts'

// The manifests of examples/kubernetes, as far as they can be checked without a cluster: with one another, with the server of
// examples/operating and with the program. No checker of schemas has seen them.

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, 'examples/kubernetes')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

interface Container {
  readonly name: string
  readonly image: string
  readonly command: readonly string[]
  readonly env: readonly {
    readonly name: string
    readonly value?: string
    readonly valueFrom?: object
  }[]
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[]
  readonly resources: Readonly<Record<'requests' | 'limits', Readonly<Record<string, string>>>>
  readonly securityContext: object
  readonly volumeMounts?: readonly {
    readonly name: string
    readonly mountPath: string
    readonly readOnly?: boolean
  }[]
  readonly lifecycle?: {
    readonly preStop: { readonly exec: { readonly command: readonly string[] } }
  }
  readonly [probe: `${string}Probe`]: Probe | undefined
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
  readonly periodSeconds: number
  readonly failureThreshold: number
}

interface Pod {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> }
  readonly spec: {
    readonly automountServiceAccountToken: boolean
    readonly securityContext: object
    readonly restartPolicy?: string
    readonly terminationGracePeriodSeconds?: number
    readonly containers: readonly Container[]
    readonly volumes?: readonly {
      readonly name: string
      readonly persistentVolumeClaim: { readonly claimName: string }
    }[]
  }
}

type Labels = Readonly<Record<string, string>>
interface Peer {
  readonly podSelector?: { readonly matchLabels: Labels }
  readonly namespaceSelector?: object
  readonly ipBlock?: { readonly cidr: string }
}

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly data?: Readonly<Record<string, string>>
  readonly spec: {
    readonly template?: Pod
    readonly jobTemplate?: { readonly spec: { readonly template: Pod } }
    readonly selector?: Labels & { readonly matchLabels?: Labels }
    readonly podSelector?: { readonly matchLabels?: Labels }
    readonly policyTypes?: readonly string[]
    readonly ingress?: readonly {
      readonly from: readonly Peer[]
      readonly ports: readonly Port[]
    }[]
    readonly egress?: readonly { readonly to: readonly Peer[]; readonly ports: readonly Port[] }[]
    readonly ports?: readonly { readonly targetPort: string }[]
    readonly schedule?: string
    readonly maxUnavailable?: number
    readonly replicas?: number
  }
}

interface Port {
  readonly protocol: string
  readonly port: number
}

const files = globSync('*.yaml', { cwd: folder })
const documents = files.flatMap((file) =>
  parseAllDocuments(readFileSync(join(folder, file), 'utf8'), { uniqueKeys: true, strict: true }),
)
const manifests = documents.map((document) => document.toJS() as Manifest)

const KINDS: Readonly<Record<string, string>> = {
  ConfigMap: 'v1',
  CronJob: 'batch/v1',
  Deployment: 'apps/v1',
  Job: 'batch/v1',
  NetworkPolicy: 'networking.k8s.io/v1',
  PersistentVolumeClaim: 'v1',
  PodDisruptionBudget: 'policy/v1',
  Service: 'v1',
}

const named = (kind: string, name: string): Manifest => {
  const found = manifests.find((each) => each.kind === kind && each.metadata.name === name)
  if (found === undefined) throw new Error(`no ${kind} ${name}`)
  return found
}

const podOf = ({ spec }: Partial<Manifest>) => spec?.template ?? spec?.jobTemplate?.spec.template
const pods = manifests.flatMap((manifest) => {
  const pod = podOf(manifest)
  return pod === undefined ? [] : [{ name: `${manifest.kind} ${manifest.metadata.name}`, pod }]
})
const containers = pods.flatMap(({ name, pod }) =>
  pod.spec.containers.map((container) => ({ name, pod, container })),
)
const api = named('Deployment', 'api')
const { identity = '' } = named('ConfigMap', 'api-revocations').data ?? {}
const [server] = api.spec.template?.spec.containers ?? []

const selects = (selector: Labels = {}, labels: Labels = {}) =>
  Object.entries(selector).every(([name, value]) => labels[name] === value)

/** What a source of examples/operating reads from its environment. */
function variablesOf(source: string): ReadonlySet<string> {
  const text = read(`examples/operating/src/${source}`)
  const taken = [...text.matchAll(/\{([^{}]*)\} = process\.env/g)]
    .flatMap(([, names = '']) => names.split(','))
    .map((name) => name.trim().split(' ')[0] ?? '')
  const asked = [...text.matchAll(/process\.env\['(\w+)'\]/g)].map(([, name = '']) => name)
  return new Set([...taken, ...asked])
}

/** The packages that a source of examples/operating imports, itself or through others. */
function packagesOf(source: string): readonly string[] {
  const imports = read(`examples/operating/src/${source}`).matchAll(/ from '([^']+)'/g)
  return [...imports].flatMap(([, name = '']) => {
    if (name.startsWith('./')) return packagesOf(name.slice(2))
    if (name.startsWith('node:')) return []
    return [
      name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/'),
    ]
  })
}

test('all of it is YAML without a repeated key, of kinds and versions that are known here', () => {
  expect(documents.flatMap(({ errors, warnings }) => errors.concat(warnings))).toEqual([])
  expect(files.toSorted()).toEqual(['api.yaml', 'keys.yaml', 'network.yaml', 'revocations.yaml'])
  for (const { apiVersion, kind } of manifests)
    expect([kind, apiVersion]).toEqual([kind, KINDS[kind]])
  const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
  expect(new Set(names).size).toBe(names.length)
})

describe.each(containers)('$name', ({ pod, container }) => {
  test('has no more rights than it needs, and bounds', () => {
    expect(pod.spec.automountServiceAccountToken).toBe(false)
    expect(pod.spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: expect.any(Number) as number,
      seccompProfile: { type: 'RuntimeDefault' },
    })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(container.resources).toEqual({
      requests: { cpu: expect.any(String) as string, memory: expect.any(String) as string },
      limits: { memory: expect.any(String) as string },
    })
    expect(container.image).toMatch(/:\d+\.\d+\.\d+$/)
  })

  test('has no secret in its text', () => {
    const secrets = container.env.filter(({ name }) => name === 'REDIS_URL')
    const reference = {
      name: 'REDIS_URL',
      valueFrom: { secretKeyRef: { name: 'api-redis', key: 'url' } },
    }
    expect(secrets).toEqual(secrets.map(() => reference))
  })

  test('mounts volumes that there are, and writes keys only where it saves them', () => {
    const claims = manifests.filter(({ kind }) => kind === 'PersistentVolumeClaim')
    for (const { name, mountPath, readOnly = false } of container.volumeMounts ?? []) {
      const volume = pod.spec.volumes?.find((each) => each.name === name)
      expect(claims.map(({ metadata }) => metadata.name)).toContain(
        volume?.persistentVolumeClaim.claimName,
      )
      const file = container.env.find((each) => each.name === 'KEYS_FILE')?.value
      expect(file?.startsWith(`${mountPath}/`)).toBe(true)
      expect(readOnly).toBe(container.command[1] !== 'save-keys.ts')
    }
  })
})

const isOfNode = ({ container }: { container: Container }) => container.command[0] === 'node'

test.each(containers.filter(isOfNode))(
  '$name starts a source that the image has, with variables that it reads',
  ({ container }) => {
    const [, source = ''] = container.command
    expect(existsSync(join(root, 'examples/operating/src', source))).toBe(true)
    const known = variablesOf(source)
    expect(container.env.filter(({ name }) => !known.has(name))).toEqual([])
  },
)

test('the identity that the Job checks is the one that the API states, so no pod starts with a stream of others', () => {
  const reference = {
    name: 'REVOCATIONS_IDENTITY',
    valueFrom: { configMapKeyRef: { name: 'api-revocations', key: 'identity' } },
  }
  const [check] = podOf(named('Job', 'revocations-check'))?.spec.containers ?? []
  for (const each of [check, server]) expect(each?.env).toContainEqual(reference)
  expect(check?.command.slice(1)).toEqual(['create', '--identity', '$(REVOCATIONS_IDENTITY)'])
  expect(identity).not.toBe('')
})

test.each(containers.filter((each) => !isOfNode(each)))(
  '$name runs a command that the program knows',
  async ({ container }) => {
    const [program, ...args] = container.command
    expect(program).toBe('node_modules/.bin/portcullis-revocations')
    const names = container.env.map(({ name }) => name)
    expect(names).toContain('REDIS_URL')
    // As Kubernetes replaces them.
    const words = args.map((word) => {
      const [, name = ''] = /^\$\((\w+)\)$/.exec(word) ?? []
      expect(name === '' || names.includes(name)).toBe(true)
      return name === '' ? word : identity
    })
    let isAsked = false
    const code = await run(words, {
      environment: { REDIS_URL: 'redis://127.0.0.1' },
      input: (async function* () {})(),
      // It knows the command if it comes as far as to ask the store.
      connect: () => () => ({
        send: async () => {
          isAsked = true
          return await Promise.reject(new Error('ERR no such key'))
        },
        destroy: () => undefined,
      }),
      print: () => undefined,
      say: () => undefined,
    })
    expect([code, isAsked]).toEqual([1, true])
  },
)

describe('the Deployment', () => {
  const probes = Object.entries(server ?? {}).filter(([name]) => name.endsWith('Probe')) as [
    string,
    Probe,
  ][]

  test('has three probes: only readiness asks for keys, so an outage of the issuer restarts nothing', () => {
    expect(Object.fromEntries(probes.map(([name, { httpGet }]) => [name, httpGet.path]))).toEqual({
      startupProbe: '/livez',
      livenessProbe: '/livez',
      readinessProbe: '/readyz',
    })
    const source = read('examples/operating/src/server.ts')
    for (const [, { httpGet }] of probes) {
      expect(source).toContain(`app.get('${httpGet.path}'`)
      expect(server?.ports?.map(({ name }) => name)).toContain(httpGet.port)
    }
  })

  test('ends slowly enough: first proxies learn of it, then open requests have their time', () => {
    const [sleep, seconds] = server?.lifecycle?.preStop.exec.command ?? []
    expect(sleep).toBe('sleep')
    const grace = Number(server?.env.find(({ name }) => name === 'GRACE_SECONDS')?.value)
    const all = api.spec.template?.spec.terminationGracePeriodSeconds ?? 0
    expect(Number(seconds) + grace).toBeLessThan(all)
    const { periodSeconds = 0, failureThreshold = 0 } = server?.['readinessProbe'] ?? {}
    expect(Number(seconds)).toBeGreaterThan(periodSeconds * failureThreshold)
  })

  test('is what the Service, the budget and its own selector select, and listens where they say', () => {
    const { labels } = api.spec.template?.metadata ?? {}
    const service = named('Service', 'api')
    const budget = named('PodDisruptionBudget', 'api')
    for (const selector of [
      api.spec.selector?.matchLabels,
      budget.spec.selector?.matchLabels,
      service.spec.selector,
    ]) {
      expect(Object.keys(selector ?? {}).length).toBeGreaterThan(0)
      expect(selects(selector, labels)).toBe(true)
      // And nothing else, such as the pod of a job.
      expect(pods.filter(({ pod }) => selects(selector, pod.metadata.labels))).toHaveLength(1)
    }
    expect(budget.spec.maxUnavailable).toBeLessThan(api.spec.replicas ?? 0)
    expect(service.spec.ports?.map(({ targetPort }) => targetPort)).toEqual(
      server?.ports?.map(({ name }) => name),
    )
    const port = server?.env.find(({ name }) => name === 'PORT')?.value
    expect(server?.ports).toEqual([{ name: 'http', containerPort: Number(port) }])
    // A URL without TLS is refused, but on the loopback.
    expect(server?.env.find(({ name }) => name === 'AUTH_URL')?.value).toMatch(/^https:/)
    expect(server?.env.find(({ name }) => name === 'HOST')?.value).toBe('0.0.0.0')
  })
})

describe('the policies of the network', () => {
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy')
  /** The ports of all policies that select a pod with these labels. */
  const allowed = (labels: Labels, direction: 'ingress' | 'egress') =>
    policies
      .filter(({ spec }) => selects(spec.podSelector?.matchLabels, labels))
      .flatMap(({ spec }) => [...(spec[direction] ?? [])].flatMap(({ ports }) => ports))

  test('let nobody talk but who is named', () => {
    const { spec } = named('NetworkPolicy', 'nobody')
    expect(spec).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] })
  })

  test.each(pods)('let $name reach what its variables name, and nothing else', ({ pod }) => {
    const needs = new Set(pod.spec.containers.flatMap(({ env }) => env.map(({ name }) => name)))
    const ports = allowed(pod.metadata.labels, 'egress')
    const expected = [
      53,
      53,
      ...(needs.has('AUTH_URL') ? [443] : []),
      ...(needs.has('REDIS_URL') ? [6379] : []),
    ]
    expect(ports.map(({ port }) => String(port)).toSorted()).toEqual(
      expected.map(String).toSorted(),
    )
  })

  test('let the key endpoint be reached at one address, and Redis by the pods that use it alone', () => {
    const [keys] = named('NetworkPolicy', 'to-keys').spec.egress ?? []
    expect(keys?.to).toEqual([{ ipBlock: { cidr: expect.stringMatching(/\/32$/) as string } }])
    const [redis] = named('NetworkPolicy', 'redis').spec.ingress ?? []
    const [peer] = redis?.from ?? []
    const users = pods.filter(({ pod }) =>
      pod.spec.containers.some(({ env }) => env.some(({ name }) => name === 'REDIS_URL')),
    )
    expect(
      pods.filter(({ pod }) => selects(peer?.podSelector?.matchLabels, pod.metadata.labels)),
    ).toEqual(users)
    expect(redis?.from).toHaveLength(1)
  })

  test('open the port of the API, and no other one', () => {
    const ports = allowed(api.spec.template?.metadata.labels ?? {}, 'ingress')
    expect(ports.map(({ port }) => port)).toEqual(
      server?.ports?.map(({ containerPort }) => containerPort),
    )
  })
})

describe('the jobs', () => {
  test('compact daily, and save keys while they are young enough to be used at once', () => {
    const compact = named('CronJob', 'revocations-compact')
    expect(podOf(compact)?.spec.containers[0]?.command.at(-1)).toBe('compact')
    expect(compact.spec.schedule).toMatch(/^\d+ \d+ \* \* \*$/)
    const [, minutes] =
      /^\*\/(\d+) \* \* \* \*$/.exec(named('CronJob', 'save-keys').spec.schedule ?? '') ?? []
    expect(Number(minutes) * 60).toBeLessThan(600)
    for (const { name, pod } of pods)
      expect([name, pod.spec.restartPolicy]).toEqual([
        name,
        name.startsWith('Deployment') ? undefined : 'Never',
      ])
  })
})

const image = JSON.parse(read('examples/kubernetes/image/package.json')) as {
  readonly dependencies: Readonly<Record<string, string>>
}

test('the image has the packages of a lockfile alone, and each version is the one that is tried here', () => {
  const dockerfile = read('examples/kubernetes/Dockerfile')
  const [, version] = /^FROM node:(\S+)-alpine$/m.exec(dockerfile) ?? []
  expect(read('pnpm-workspace.yaml')).toContain(`nodeVersion: ${version}\n`)
  expect(dockerfile).toMatch(/^COPY .*\/package\.json .*\/package-lock\.json \.\/\nRUN npm ci /m)
  expect(dockerfile.split('\n').filter((line) => /^RUN .*npm (?!ci )/.test(line))).toEqual([])
  const tried = JSON.parse(read('examples/operating/package.json')) as typeof image
  const { version: family } = JSON.parse(read('packages/core/package.json')) as {
    version: string
  }
  for (const [name, stated] of Object.entries(image.dependencies)) {
    const inCatalog = versionInCatalog(name) || (tried.dependencies[name] ?? '')
    expect([name, stated]).toEqual([name, name.startsWith('@portcullis/') ? family : inCatalog])
  }
})

test('the Dockerfile brings all that is started, as a user that is not root', () => {
  const dockerfile = read('examples/kubernetes/Dockerfile')
  const started = containers.flatMap(({ container: { command } }) =>
    command[0] === 'node' ? [command[1] ?? ''] : [],
  )
  const needed = new Set(['@portcullis/redis', ...started.flatMap((name) => packagesOf(name))])
  expect(Object.keys(image.dependencies).toSorted()).toEqual([...needed].toSorted())
  expect(dockerfile).toContain('COPY operating/src ./\n')
  const [, user] = /^USER (\d+)$/m.exec(dockerfile) ?? []
  for (const { pod } of containers) {
    expect(pod.spec.securityContext).toMatchObject({ runAsUser: Number(user) })
  }
})
