import type { Database } from '../db/database.ts'
import { redactText } from '../redaction/redact.ts'
import type { Log } from '../telemetry/log.ts'
import { budgetFindings } from './budget-findings.ts'
import { alertCondition } from './condition.ts'
import type { AlertFinding } from './finding.ts'
import { networkFindings } from './network-findings.ts'
import { rateFindings } from './rate-findings.ts'
import { listRulesToEvaluate, type RuleToEvaluate } from './rule-queries.ts'
import { scanNetworks } from './scan-networks.ts'
import { channelFindings, ledgerFindings } from './state-findings.ts'
import { type EvaluatedRule, type MessageKey, makeTransitions } from './transition.ts'

export interface EvaluationContext {
  database: Pick<Database, 'jobs' | 'reads' | 'upkeep'>
  bounds: { alertMs: number; alertRulesMax: number; alertOpenMax: number; rollupHoursDays: number }
  log: Log
}

const withinMs = 10_000
/** The maximum duration of a pass. The next pass begins with the rules that this one did not reach. */
const passMs = 60_000

/**
 * Evaluates all rules once, one after the other. If a rule fails, its episodes stay as they are and the other
 * rules are still evaluated. Returns the messages to send.
 */
export async function evaluateRules(context: EvaluationContext): Promise<MessageKey[]> {
  const { database, bounds, log } = context
  const { rules, now } = await database.jobs.ask(({ db }) => listRulesToEvaluate(db, bounds.alertRulesMax), {
    withinMs,
  })
  const end = performance.now() + passMs
  // This also runs without any rules, because the list of keys shows when they were last used.
  await database.upkeep
    .ask(({ sql }) => scanNetworks(sql, now.getTime()), { withinMs: passMs })
    .catch((error: unknown) => warn(log, error, 'the networks of keys could not be read'))
  const messages: MessageKey[] = []
  for (const rule of rules) {
    if (performance.now() > end) break
    try {
      messages.push(...(await evaluateRule(context, rule)))
    } catch (error) {
      warn(log.child({ rule: rule.id }), error, 'an alert rule could not be evaluated')
    }
  }
  return messages
}

async function evaluateRule(context: EvaluationContext, rule: RuleToEvaluate): Promise<MessageKey[]> {
  const { database, bounds } = context
  const read = alertCondition.safeParse(rule.condition)
  // The rule was created by a later release.
  if (!read.success) return []
  const [clock] = await database.jobs.ask(({ sql }) => sql<{ now: Date }[]>`SELECT now()`, { withinMs })
  if (clock === undefined) throw new Error('Postgres returned no time')
  const evaluated: EvaluatedRule = {
    id: rule.id,
    version: rule.version,
    condition: read.data,
    begunAt: clock.now,
  }
  const findings = await findingsOf(context, rule, evaluated)
  return await database.jobs.ask(
    ({ sql }) => makeTransitions(sql, evaluated, findings, bounds.alertOpenMax),
    { withinMs },
  )
}

function findingsOf(
  { database, bounds }: EvaluationContext,
  { tenantId, createdAt, evaluatedAt }: RuleToEvaluate,
  { condition, begunAt }: EvaluatedRule,
): Promise<AlertFinding[]> {
  return database.reads.ask(
    ({ sql, db }) => {
      switch (condition.kind) {
        case 'budget':
          return budgetFindings(sql, condition, tenantId)
        case 'error_rate':
        case 'latency':
        case 'uncharged':
          return rateFindings(sql, condition, tenantId, {
            nowMs: begunAt.getTime(),
            hoursDays: bounds.rollupHoursDays,
          })
        case 'ledger_lag':
          return ledgerFindings(sql, condition, Math.max(3 * bounds.alertMs, reportMsLeast))
        case 'new_network':
          return networkFindings(sql, condition, { tenantId, ruleCreatedAt: createdAt, evaluatedAt })
        case 'channel_down':
          return channelFindings(db, condition)
      }
    },
    { owner: 'alerts' },
  )
}

/** The minimum time for which the report of a process is valid. */
const reportMsLeast = 10_000

function warn(log: Log, error: unknown, message: string): void {
  log.warn({ cause: redactText(String(error)) }, message)
}
