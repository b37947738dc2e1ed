import { execFileSync, spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { readConfig, variableOf } from '../../src/config.ts'
import { helmPath } from '../support/machine.ts'
import { faultsOf } from './faults-of.ts'

/** The Helm chart, rendered by Helm and compared with the types of Kubernetes. No cluster is here. */

const chart = resolve(import.meta.dirname, '../../deploy/helm/tollgate')
const needed = ['image.repository=registry.example/tollgate', 'existingSecret=tollgate']
const proxied = [...needed, 'exposure.trustedProxies=10.42.0.0/16']

/** Sets of values that together switch on all that the chart has. */
const installations: Readonly<Record<string, readonly string[]>> = {
  'kept disks behind a proxy': [
    ...proxied,
    'ingress.enabled=true',
    'ingress.host=llm.example.com',
    'ingress.tlsSecret=llm-tls',
    'gatewayYaml=models: []',
  ],
  'disks that go with their pods, own TLS, growing with its requests': [
    ...needed,
    'exposure.tlsSecret=gateway-tls',
    'journal.disk=ephemeral',
    'autoscaling.enabled=true',
    's3.bucket=images',
    's3.endpoint=https://s3.example.com',
    'networkPolicy.from[0].namespaceSelector.matchLabels.name=edge',
    'networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.name=monitoring',
  ],
  'plain HTTP in a private network, no workers': [
    ...needed,
    'exposure.plainHttp=allow',
    'worker.replicas=0',
    'migrationJob.enabled=false',
    'env.LOG_LEVEL=debug',
    'journal.storageClass=fast',
    'imagePullSecrets[0].name=registry',
  ],
}

/** All names of the environment. */
const { bounds, ...settings } = readConfig({})
const variables = Object.keys({ ...settings, ...bounds }).map(variableOf)

const container = z.looseObject({
  image: z.string(),
  args: z.array(z.string()).optional(),
  env: z.array(z.object({ name: z.string(), value: z.string() })),
  envFrom: z.array(z.object({ secretRef: z.object({ name: z.string() }) })),
  securityContext: z.record(z.string(), z.unknown()),
  volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })),
})
const pod = z.looseObject({
  metadata: z.looseObject({ labels: z.record(z.string(), z.string()) }),
  spec: z.looseObject({
    containers: z.tuple([container]),
    terminationGracePeriodSeconds: z.number().optional(),
    securityContext: z.record(z.string(), z.unknown()),
    volumes: z.array(z.looseObject({ name: z.string() })),
  }),
})
const resource = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
  spec: z
    .looseObject({ template: pod.optional(), volumeClaimTemplates: z.array(z.unknown()).optional() })
    .optional(),
})
type Resource = z.output<typeof resource>

function render(values: readonly string[]): Resource[] {
  const sets = values.flatMap((value) => ['--set', value])
  const text = execFileSync(helmPath, ['template', 'main', chart, ...sets], { encoding: 'utf8' })
  return parseAllDocuments(text).map((document) => resource.parse(document.toJS()))
}

function refusalOf(values: readonly string[]): string {
  const { stderr } = spawnSync(
    helmPath,
    ['template', 'main', chart, ...values.flatMap((value) => ['--set', value])],
    { encoding: 'utf8' },
  )
  return stderr
}

const podsOf = (resources: readonly Resource[]) =>
  resources.flatMap(({ kind, metadata, spec }) =>
    spec?.template === undefined ? [] : [{ kind, name: metadata.name, ...spec.template }],
  )

test('what is scraped in a cluster has the job that alerts and dashboard ask for', () => {
  const resources = render([...proxied, 'metrics.podMonitor.enabled=true'])
  const [monitor] = resources.filter(({ kind }) => kind === 'PodMonitor')
  expect(monitor?.spec?.jobLabel).toBe('app.kubernetes.io/name')
  expect(podsOf(resources).map(({ metadata }) => metadata.labels['app.kubernetes.io/name'])).toEqual(
    podsOf(resources).map(() => 'tollgate'),
  )
})

describe.each(Object.entries(installations))('with %s', (_, values) => {
  const resources = render(values)

  test('every resource is one that Kubernetes knows, without a member that it does not', () => {
    const known = resources.filter(({ apiVersion }) => !apiVersion.startsWith('monitoring.coreos.com'))
    expect(known.length).toBeGreaterThan(4)
    const typed = known.map((value) => ({
      type: `I${value.kind}`,
      from: `kubernetes-models/${value.apiVersion}/${value.kind}`,
      value,
    }))
    expect(faultsOf(typed)).toBe('')
  })

  test('the gateway takes the environment of each pod', () => {
    for (const { spec, name } of podsOf(resources)) {
      const [{ env, envFrom }] = spec.containers
      const names = env.map((each) => each.name)
      expect(new Set(names).size, `${name} sets a variable twice`).toBe(names.length)
      const secret = { DATABASE_URL: 'postgres://db/tollgate', SECRET_KEY: 's'.repeat(32) }
      const environment = { ...secret, ...Object.fromEntries(env.map((each) => [each.name, each.value])) }
      expect(() => readConfig(environment), name).not.toThrow()
      for (const each of names) expect(variables, `${name} sets ${each}`).toContain(each)
      expect(envFrom).toEqual([{ secretRef: { name: 'tollgate' } }])
    }
  })

  test('a pod gets the time that its process may take to end', () => {
    for (const { spec, kind } of podsOf(resources)) {
      if (kind === 'Job') continue
      const [{ env }] = spec.containers
      const { shutdownDelayMs, drainOnShutdownMs } = readConfig({
        ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
      }).bounds
      // serve.ts ends 25 s after both.
      const needs = (shutdownDelayMs + drainOnShutdownMs) / 1000 + 25
      expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(needs)
    }
  })

  test('pods are not root, write only to their volumes, and keep rows for as long as their disk lives', () => {
    const pods = podsOf(resources)
    expect(pods.length).toBeGreaterThan(0)
    for (const { spec, kind } of pods) {
      const [{ env, volumeMounts, securityContext }] = spec.containers
      expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 })
      expect(securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false })
      if (kind === 'Job') continue
      const variable = (name: string) => env.find((each) => each.name === name)?.value
      expect(variable('DURABILITY')).toBe(kind === 'StatefulSet' ? 'journal' : 'postgres')
      const data = volumeMounts.find(({ mountPath }) => mountPath === variable('DATA_DIR'))
      const volume = spec.volumes.find(({ name }) => name === data?.name)
      expect(volume === undefined).toBe(kind === 'StatefulSet')
    }
  })

  test('services, budgets and policies choose pods that exist', () => {
    const labels = podsOf(resources).map(({ metadata }) => metadata.labels)
    const selectorOf = z.union([
      z
        .looseObject({ selector: z.looseObject({ matchLabels: z.record(z.string(), z.string()) }) })
        .transform(({ selector }) => selector.matchLabels),
      z
        .looseObject({ podSelector: z.object({ matchLabels: z.record(z.string(), z.string()) }) })
        .transform(({ podSelector }) => podSelector.matchLabels),
      z.looseObject({ selector: z.record(z.string(), z.string()) }).transform(({ selector }) => selector),
    ])
    const choosing = resources.filter(({ kind }) =>
      ['Service', 'PodDisruptionBudget', 'NetworkPolicy'].includes(kind),
    )
    expect(choosing.length).toBeGreaterThan(2)
    for (const { kind, metadata, spec } of choosing) {
      const selector = Object.entries(selectorOf.parse(spec))
      const chosen = labels.filter((of) => selector.every(([name, value]) => of[name] === value))
      expect(chosen.length, `${kind} ${metadata.name}`).toBe(1)
    }
  })
})

test('helm finds nothing to complain about', () => {
  const sets = proxied.flatMap((value) => ['--set', value])
  const { stdout, status } = spawnSync(helmPath, ['lint', '--strict', chart, ...sets], { encoding: 'utf8' })
  expect(stdout).not.toMatch(/ERROR|WARN/)
  expect(status).toBe(0)
})

test('an installation that would expose keys, or has no image or Secret, is refused with what to set', () => {
  expect(refusalOf(needed)).toContain('exposure: set one of tlsSecret, trustedProxies, plainHttp=allow')
  expect(refusalOf([...proxied, 'exposure.plainHttp=allow'])).toContain('exposure: set one of')
  expect(refusalOf(proxied.slice(1))).toContain('image.repository: no image is published')
  expect(refusalOf(proxied.filter((value) => !value.startsWith('existingSecret')))).toContain(
    'existingSecret: name a Secret with DATABASE_URL and SECRET_KEY',
  )
  expect(refusalOf([...proxied, 'ingress.enabled=true', 'ingress.host=x'])).toContain('ingress.tlsSecret')
})
