import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

const deploy = resolve(import.meta.dirname, '../../deploy')

const rulesFile = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          alert: z.string(),
          expr: z.string(),
          for: z.string().optional(),
          labels: z.object({ severity: z.enum(['page', 'ticket']) }),
          annotations: z.object({ summary: z.string(), runbook: z.string() }),
        }),
      ),
    }),
  ),
})

const dashboardFile = z.object({
  panels: z.array(
    z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })).default([]) }),
  ),
})

/** The alerts of deploy/prometheus/alerts.yml. */
export function alertRules() {
  const file = rulesFile.parse(parse(readFileSync(join(deploy, 'prometheus/alerts.yml'), 'utf8')))
  return file.groups.flatMap(({ rules }) => rules)
}

/** The queries of the dashboard, as Grafana would send them. */
export function dashboardQueries(): { panel: string; query: string }[] {
  const { panels } = dashboardFile.parse(
    JSON.parse(readFileSync(join(deploy, 'grafana/tollgate.json'), 'utf8')),
  )
  return panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }) => ({
      panel: title,
      query: expr.replaceAll('$__rate_interval', '1m').replaceAll('$job', '.*'),
    })),
  )
}
