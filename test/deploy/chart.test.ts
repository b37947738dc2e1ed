import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { readConfig, variableOf } from '../../src/config/config.ts'
import { repository } from '../support/former-release.ts'
import { helmPath } from '../support/machine.ts'
import { faultsOf } from './faults-of.ts'
import { chartFolder, neededValues, podsOf, refusalOf, render } from './rendered.ts'

/** The Helm chart, rendered by Helm and compared with the types of Kubernetes. No cluster is here. */

const stored = [...neededValues, 's3.bucket=images']
const proxied = [...stored, 'exposure.trustedProxies=10.42.0.0/16']

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
    ...stored,
    'exposure.tlsSecret=gateway-tls',
    'journal.disk=ephemeral',
    'autoscaling.enabled=true',
    's3.endpoint=https://s3.example.com',
    'networkPolicy.from[0].namespaceSelector.matchLabels.name=edge',
    'networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.name=monitoring',
    'metrics.podMonitor.enabled=true',
    'volumes[0].name=credentials',
    'volumes[0].secret.secretName=credentials',
    'volumeMounts[0].name=credentials',
    'volumeMounts[0].mountPath=/run/secrets',
  ],
  'plain HTTP in a private network, no workers, no bucket': [
    ...neededValues,
    's3.unused=true',
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

test('what is scraped in a cluster has the job that alerts and dashboard ask for', () => {
  const resources = render([
    ...proxied,
    'metrics.podMonitor.enabled=true',
    'networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.name=monitoring',
  ])
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
      // A process ends itself 25 s after both, and a supervisor its processes after 30 s.
      const needs = (shutdownDelayMs + drainOnShutdownMs) / 1000 + 30
      expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(needs)
    }
  })

  test('pods are not root, write only to their volumes, and keep rows for as long as their disk lives', () => {
    const pods = podsOf(resources)
    expect(pods.length).toBeGreaterThan(0)
    for (const { spec, kind } of pods) {
      const [{ env, volumeMounts, securityContext }] = spec.containers
      expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 })
      // Kubernetes would make a variable such as METRICS_PORT of each service beside it.
      expect(spec.enableServiceLinks).toBe(false)
      const volumes = new Set([
        ...spec.volumes.map(({ name }) => name),
        ...(kind === 'StatefulSet' ? ['data'] : []),
      ])
      for (const { name } of volumeMounts) expect(volumes, `${name} is mounted`).toContain(name)
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
  const { stdout, status } = spawnSync(helmPath, ['lint', '--strict', chartFolder, ...sets], {
    encoding: 'utf8',
  })
  expect(stdout).not.toMatch(/ERROR|WARN/)
  expect(status).toBe(0)
})

test('an installation that would expose keys, or has no image, Secret or bucket, is refused with what to set', () => {
  expect(refusalOf(stored)).toContain('exposure: set one of tlsSecret, trustedProxies, plainHttp=allow')
  expect(refusalOf([...proxied, 'exposure.plainHttp=allow'])).toContain('exposure: set one of')
  const without = (name: string) => refusalOf(proxied.filter((value) => !value.startsWith(name)))
  expect(without('image.repository')).toContain('image.repository: no image is published')
  expect(without('existingSecret')).toContain(
    'existingSecret: name a Secret with DATABASE_URL and SECRET_KEY',
  )
  expect(without('s3.bucket')).toContain('s3.bucket: gateways and workers must see the same images and files')
  expect(refusalOf([...proxied, 'ingress.enabled=true', 'ingress.host=x'])).toContain('ingress.tlsSecret')
})

test('an archive on the disk of a worker, which goes with its pod, is refused', () => {
  const unstored = [...neededValues, 's3.unused=true', 'exposure.plainHttp=allow', 'env.HOT_DAYS=14']
  expect(refusalOf(unstored)).toContain('env.HOT_DAYS: the archive needs s3.bucket')
  expect(refusalOf([...unstored, 'env.ARCHIVE_S3_BUCKET=archive'])).toBe('')
  expect(refusalOf([...proxied, 'env.HOT_DAYS=14'])).toBe('')
})

test('metrics for the Prometheus operator are refused where the network policy lets no one read them', () => {
  const monitored = [...proxied, 'metrics.podMonitor.enabled=true']
  expect(refusalOf(monitored)).toContain('networkPolicy.metricsFrom is empty')
  expect(refusalOf([...monitored, 'networkPolicy.enabled=false'])).toBe('')
})

test('env of a values file reaches gateways, workers and the migration as it is there', () => {
  const file = 'env: { BODY_BYTES_MAX: 67108864, OTEL_TRACES_SAMPLER_ARG: 0.02, ROUTING_HEADERS: show }'
  const pods = podsOf(render(proxied, file))
  expect(pods.map(({ kind }) => kind).sort()).toEqual(['Deployment', 'Job', 'StatefulSet'])
  for (const { spec } of pods) {
    const [{ env }] = spec.containers
    expect(env).toEqual(
      expect.arrayContaining([
        { name: 'BODY_BYTES_MAX', value: '67108864' },
        { name: 'OTEL_TRACES_SAMPLER_ARG', value: '0.02' },
        { name: 'ROUTING_HEADERS', value: 'show' },
      ]),
    )
  }
})

test('a variable that the chart sets itself is refused in env', () => {
  const own = podsOf(render([...proxied, 'gatewayYaml=models: []', 's3.endpoint=https://s3.example.com']))
    .filter(({ kind }) => kind !== 'Job')
    .flatMap(({ spec }) => spec.containers[0].env.map(({ name }) => name))
  expect(own.length).toBeGreaterThan(10)
  for (const name of new Set(own))
    expect(refusalOf([...proxied, 'gatewayYaml=models: []', `env.${name}=x`])).toContain(
      `env.${name}: the chart sets it itself`,
    )
})

test('the chart has the version of the package', () => {
  const chart = z
    .looseObject({ version: z.string(), appVersion: z.string() })
    .parse(parse(readFileSync(join(chartFolder, 'Chart.yaml'), 'utf8')))
  const { version } = z
    .looseObject({ version: z.string() })
    .parse(JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')))
  expect(chart).toMatchObject({ version, appVersion: version })
})
