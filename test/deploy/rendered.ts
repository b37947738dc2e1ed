import { execFileSync, spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { helmPath } from '../support/machine.ts'

export const chartFolder = resolve(import.meta.dirname, '../../deploy/helm/tollgate')

/** Values without which the chart renders nothing. */
export const neededValues = ['image.repository=registry.example/tollgate', 'existingSecret=tollgate']

const probe = z.object({
  httpGet: z.object({
    path: z.string(),
    port: z.string(),
    scheme: z.enum(['HTTP', 'HTTPS']).default('HTTP'),
  }),
  periodSeconds: z.number(),
  timeoutSeconds: z.number().optional(),
  failureThreshold: z.number(),
})
export type Probe = z.output<typeof probe>

const container = z.looseObject({
  image: z.string(),
  args: z.array(z.string()).optional(),
  env: z.array(z.object({ name: z.string(), value: z.string() })),
  envFrom: z.array(z.object({ secretRef: z.object({ name: z.string() }) })),
  securityContext: z.record(z.string(), z.unknown()),
  volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
  startupProbe: probe.optional(),
  readinessProbe: probe.optional(),
  livenessProbe: probe.optional(),
})
const pod = z.looseObject({
  metadata: z.looseObject({ labels: z.record(z.string(), z.string()) }),
  spec: z.looseObject({
    containers: z.tuple([container]),
    enableServiceLinks: z.boolean().optional(),
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
export type Resource = z.output<typeof resource>

/** What Helm makes of the chart, with values as `--set` takes them, and further ones as a values file has them. */
export function render(values: readonly string[], file?: string): Resource[] {
  const text = execFileSync(helmPath, wordsOf(values, file), { encoding: 'utf8', input: file })
  return parseAllDocuments(text).map((document) => resource.parse(document.toJS()))
}

/** What Helm says when it does not render. Empty: it does. */
export function refusalOf(values: readonly string[]): string {
  return spawnSync(helmPath, wordsOf(values), { encoding: 'utf8' }).stderr
}

function wordsOf(values: readonly string[], file?: string): string[] {
  const sets = values.flatMap((value) => ['--set', value])
  return ['template', 'main', chartFolder, ...sets, ...(file === undefined ? [] : ['--values', '-'])]
}

export const podsOf = (resources: readonly Resource[]) =>
  resources.flatMap(({ kind, metadata, spec }) =>
    spec?.template === undefined ? [] : [{ kind, name: metadata.name, ...spec.template }],
  )
