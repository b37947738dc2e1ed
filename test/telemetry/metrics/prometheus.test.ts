import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { alertRules, dashboardQueries } from '../../support/alert-rules.ts'
import { type Metered, startMetered } from '../../support/metered.ts'
import { deploy, type PrometheusServer, promtool, startPrometheus } from '../../support/prometheus.ts'
import { until } from '../../support/until.ts'

/** What is in deploy/, run by Debian's Prometheus over a real gateway of two processes under traffic of every kind. */

let bed: Metered
let prometheus: PrometheusServer

beforeAll(async () => {
  bed = await startMetered({ PROCESSES: '2' })
  prometheus = await startPrometheus([new URL(bed.metricsUrl).host])
  await bed.makeTraffic()
  await prometheus.scraped(2)
  // Rates need a count that rises between two scrapes.
  await bed.makeTraffic()
  await prometheus.scraped(2)
}, 180_000)

afterAll(async () => {
  await prometheus.close()
  await bed.close()
})

test.each(dashboardQueries())('panel "$panel" shows something: $query', async ({ query }) => {
  const rows = await prometheus.query(query)
  expect(rows).not.toEqual([])
  // Of a histogram in which nothing new is, Prometheus has no percentile.
  expect(rows.some(({ value }) => !Number.isNaN(value))).toBe(true)
})

test('Prometheus takes all of an answer, and its queries add up what the usage log has', async () => {
  expect((await prometheus.query('up'))[0]?.value).toBe(1)
  expect(
    (await prometheus.query('scrape_samples_scraped == scrape_samples_post_metric_relabeling')).length,
  ).toBe(1)
  const [row] = await bed.database.sql`SELECT sum(folded)::float8 AS requests FROM requests`
  await until(
    async () => (await prometheus.query('sum(tollgate_requests_total)'))[0]?.value === row?.requests,
  )
})

test('all rules are evaluated without an error', async () => {
  const evaluated = await until(async () => {
    const { groups } = (await prometheus.get('rules')) as {
      groups: { rules: { name: string; health: string; lastError?: string }[] }[]
    }
    const rules = groups.flatMap(({ rules }) => rules)
    return rules.every(({ health }) => health !== 'unknown') ? rules : undefined
  })
  expect(evaluated.filter(({ health }) => health !== 'ok')).toEqual([])
  expect(evaluated.map(({ name }) => name)).toEqual(alertRules().map(({ alert }) => alert))
})

test('promtool has nothing to complain of: the answer, the rules, the configuration', async () => {
  expect(promtool(['check', 'metrics'], (await bed.scrape()).text)).toEqual({ status: 0, output: '' })
  for (const [what, file] of [
    ['rules', 'alerts.yml'],
    ['config', 'prometheus.yml'],
  ] as const) {
    const { status, output } = promtool(['check', what, join(deploy, 'prometheus', file)])
    expect(output).not.toMatch(/FAILED|error|warning/i)
    expect(status).toBe(0)
  }
})

interface Case {
  /** Series as promtool writes them: first value, step, times. */
  series: Record<string, string>
  /** When it fires. */
  at: string
  labels?: Record<string, string>
  summary: string
}

const instance = { instance: 'one', job: 'tollgate' }
const on = (name: string, labels = '') => `${name}{instance="one",job="tollgate"${labels}}`

/** For each alert: values at which it fires, and what it says. Until then it was quiet. */
const cases: Record<string, Case> = {
  TollgateDown: {
    series: { [on('up')]: '1 1 0x20' },
    at: '10m',
    labels: instance,
    summary: 'Nothing answers at one',
  },
  TollgateAbsent: {
    series: { 'up{instance="one",job="another"}': '1x20' },
    at: '10m',
    labels: { job: 'tollgate' },
    summary: 'Prometheus knows no gateway: job tollgate has no targets',
  },
  TollgateProcessesMissing: {
    series: { [on('tollgate_processes')]: '2 2 1x20', [on('tollgate_processes_expected')]: '2x20' },
    at: '10m',
    labels: instance,
    summary: '1 of the processes of one answer',
  },
  TollgateProcessesRestart: {
    series: { [on('tollgate_process_restarts_total')]: '0 0 0+2x20' },
    at: '10m',
    labels: instance,
    summary: 'Processes of one end again and again',
  },
  TollgateRequestsFail: {
    series: {
      [on('tollgate_requests_total', ',outcome="succeeded"')]: '0+540x40',
      [on('tollgate_requests_total', ',outcome="failed"')]: '0+60x40',
    },
    at: '30m',
    summary: '10% of the requests fail',
  },
  TollgateInternalErrors: {
    series: { [on('tollgate_request_errors_total', ',kind="internal"')]: '0x10 16x20' },
    at: '15m',
    summary: 'The gateway itself failed at 16 requests',
  },
  TollgateUnavailable: {
    series: { [on('tollgate_request_errors_total', ',kind="unavailable"')]: '0+60x30' },
    at: '20m',
    summary: 'Clients get 503: 1 a second',
  },
  TollgateChannelFails: {
    series: { [on('tollgate_channel_breaker_open', ',channel="c"')]: '0 1x30' },
    at: '20m',
    labels: { channel: 'c' },
    summary: 'Channel c has failed for 10 minutes',
  },
  TollgateCredentialsRefused: {
    // A request every five minutes is refused, and the cooldown is shorter.
    series: {
      [on('tollgate_channel_credentials_cooling', ',channel="c",why="refused"')]:
        '0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1',
    },
    at: '22m',
    labels: { channel: 'c' },
    summary: 'Channel c refuses credentials',
  },
  TollgatePostgresAway: {
    series: { [on('tollgate_postgres_up')]: '1 0x20' },
    at: '5m',
    labels: instance,
    summary: 'one does not reach Postgres',
  },
  TollgateRowsWait: {
    series: { [on('tollgate_ledger_oldest_unshipped_seconds')]: '0+60x20' },
    at: '10m',
    labels: instance,
    summary: 'Rows of one have waited 10m 0s for Postgres',
  },
  TollgateJournalFills: {
    series: { [on('tollgate_journal_fill_ratio')]: '0.1 0.6x20' },
    at: '5m',
    labels: instance,
    summary: 'A journal of one has 60% of its bound; at 90 % the process takes no more work',
  },
  TollgateJournalUnwritable: {
    series: { [on('tollgate_journal_writable')]: '1 0x20' },
    at: '5m',
    labels: instance,
    summary: 'one cannot write its journal, and refuses requests',
  },
  TollgateFramesSetAside: {
    series: { [on('tollgate_ledger_frames_set_aside')]: '0 2x20' },
    at: '5m',
    labels: instance,
    summary: '2 frames of one are set aside',
  },
  TollgateAdoptionFails: {
    series: { [on('tollgate_ledger_adoption_failures')]: '0 1x30' },
    at: '20m',
    labels: instance,
    summary: '1 journals of dead processes cannot be adopted at one',
  },
  TollgateLimitsLocal: {
    series: { [on('tollgate_limits_local_decisions_total')]: '0+5x30' },
    at: '20m',
    labels: instance,
    summary: 'one decides about limits without Redis',
  },
  TollgateJobsWait: {
    series: { [on('tollgate_job_oldest_seconds', ',kind="image",state="queued"')]: '0+60x30' },
    at: '20m',
    labels: { kind: 'image' },
    summary: 'A job (image) has waited 20m 0s',
  },
  TollgateWebhooksWait: {
    series: { [on('tollgate_webhooks_due')]: '0 200x30' },
    at: '20m',
    summary: '200 webhooks are due',
  },
  TollgateEventLoopSlow: {
    series: { [on('tollgate_event_loop_delay_seconds', ',statistic="p99"')]: '0 2x30' },
    at: '20m',
    labels: { ...instance, statistic: 'p99' },
    summary: 'The event loop of one is 2s late: a process has too much to do',
  },
}

test.each(alertRules())(
  'alert $alert fires when it should, says what happened, and is quiet before',
  (rule) => {
    const one = cases[rule.alert]
    if (one === undefined) return expect.fail(`${rule.alert} has no case`)
    expectAlert(rule, one)
  },
)

test('a process without a supervisor that begins again and again fires as those with one', () => {
  const rule = alertRules().find(({ alert }) => alert === 'TollgateProcessesRestart')
  if (rule === undefined) return expect.fail('there is no such alert')
  expectAlert(rule, {
    series: {
      [on('process_start_time_seconds')]: '1000 1060 1120 1180 1240 1300 1360',
      [on('tollgate_processes_expected')]: '1x20',
      [on('tollgate_process_restarts_total')]: '0x20',
    },
    at: '6m',
    labels: instance,
    summary: 'Processes of one end again and again',
  })
})

/** What looks like trouble and is not. */
test.each([
  [
    'TollgateCredentialsRefused',
    'a rate limit of the vendor',
    { [on('tollgate_channel_credentials_cooling', ',channel="c",why="limited"')]: '1x40' },
  ],
  [
    'TollgateProcessesRestart',
    'the oldest of several processes that answers only sometimes',
    {
      [on('process_start_time_seconds')]: '1000 1060 1000 1060 1000 1060 1000 1060 1000 1060x30',
      [on('tollgate_processes_expected')]: '2x40',
      [on('tollgate_process_restarts_total')]: '0x40',
    },
  ],
  [
    'TollgateRequestsFail',
    'no traffic, and then one failure in ten minutes',
    {
      [on('tollgate_requests_total', ',outcome="succeeded"')]: '0x40',
      [on('tollgate_requests_total', ',outcome="failed"')]: '0x20 1x9 2x9',
    },
  ],
  [
    'TollgateLimitsLocal',
    'limits that one process counts alone',
    { [on('tollgate_limits_local_decisions_total')]: '0x40' },
  ],
] as const)('alert %s is quiet at %s', (alert, _, series) => {
  expectAlerts(
    series,
    ['9m', '21m', '25m', '31m'].map((eval_time) => ({ eval_time, alertname: alert, exp_alerts: [] })),
  )
})

type Rule = ReturnType<typeof alertRules>[number]

function expectAlert(rule: Rule, { series, at, labels, summary }: Case): void {
  const expected = {
    exp_labels: { severity: rule.labels.severity, ...labels },
    exp_annotations: { ...rule.annotations, summary },
  }
  const alertname = rule.alert
  expectAlerts(series, [
    { eval_time: '0m', alertname, exp_alerts: [] },
    { eval_time: at, alertname, exp_alerts: [expected] },
  ])
}

/** `alerts`: as promtool's tests have them. */
function expectAlerts(series: Readonly<Record<string, string>>, alerts: readonly object[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-rules-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'test.yml')
  const input_series = Object.entries(series).map(([series, values]) => ({ series, values }))
  writeFileSync(
    file,
    JSON.stringify({
      rule_files: [join(deploy, 'prometheus/alerts.yml')],
      evaluation_interval: '1m',
      tests: [{ interval: '1m', input_series, alert_rule_test: alerts }],
    }),
  )
  expect(promtool(['test', 'rules', file])).toEqual({
    status: 0,
    output: expect.stringContaining('SUCCESS'),
  })
}
