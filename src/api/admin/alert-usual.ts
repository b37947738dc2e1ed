import { z } from 'zod'
import { alertCondition } from '../../alerts/condition.ts'
import { newDestination } from '../../alerts/destination.ts'
import { listRules, lockRules, type RuleRow } from '../../alerts/rule-queries.ts'
import { type UsualRule, usualRulesOf, watchesTheSame } from '../../alerts/usual-rules.ts'
import { invalid } from '../../canonical/field-error.ts'
import type { Queries } from '../../db/transactions.ts'
import { alertDestination, alertRule, ruleJson, webhookSecret } from './alert-json.ts'
import { type AdminAlertsContext, createRule, newestSecret, requireTenant } from './alert-rule.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { uuidText } from './list.ts'
import { listedTenant } from './permit.ts'

const path = '/admin/v1/alerts/usual' as const

const usualRule = z
  .object({
    id: z.string().describe('Stable, to choose the rule when the usual rules are created.'),
    name: z.string(),
    condition: alertCondition,
    existing: z
      .object({ id: z.uuid(), name: z.string(), enabled: z.boolean() })
      .nullable()
      .describe('The rule that already watches this. Null if there is none.'),
  })
  .meta({ id: 'UsualAlertRule' })

const usualRequest = z
  .strictObject({
    rules: z
      .array(z.string())
      .max(100)
      .optional()
      .describe('The ids of the rules to create. All by default.'),
    webhook: alertDestination
      .nullable()
      .default(null)
      .describe('The webhook of each of the new rules. Null if episodes are only listed.'),
    tenant_id: z.uuid().nullable().default(null).describe('Restricts the rules to this tenant.'),
  })
  .meta({ id: 'UsualAlertRules' })

/** The rules that most operators want, and their creation in one act. */
export function usualAlertsEndpoints(context: AdminAlertsContext): AdminEndpoint[] {
  const { database } = context
  return [
    adminEndpoint({
      method: 'GET',
      path,
      area: 'alerts',
      tenants: 'own',
      summary: 'List the usual alert rules',
      description: 'Each with the rule that already watches the same, whatever its thresholds.',
      query: z.strictObject({ tenant_id: uuidText.optional() }),
      answer: z.object({ data: z.array(usualRule) }).meta({ id: 'UsualAlertRuleList' }),
      async handle({ actor, query, signal }) {
        const tenantId = listedTenant(actor, query.tenant_id) ?? null
        const data = await database.reads.ask(({ db }) => standing(db, tenantId, context), {
          owner: 'admin',
          signal,
        })
        return {
          body: {
            data: data.map(({ rule, existing }) => ({
              ...rule,
              existing:
                existing === undefined
                  ? null
                  : { id: existing.id, name: existing.name, enabled: existing.enabled },
            })),
          },
        }
      },
    }),
    adminChange({
      method: 'POST',
      path,
      area: 'alerts',
      tenants: 'own',
      mayChangeNothing: true,
      summary: 'Create the usual alert rules',
      description:
        'Creates those that nothing watches yet, all or none of them. A second call creates nothing. One secret signs the webhooks of all new rules.',
      body: usualRequest,
      answer: z
        .object({ data: z.array(alertRule), webhook_secret: webhookSecret })
        .meta({ id: 'CreatedUsualAlertRules' }),
      statuses: [201],
      async change({ actor, tx, body, audit }) {
        const tenantId = listedTenant(actor, body.tenant_id ?? undefined) ?? null
        await requireTenant(tx, tenantId)
        const usual = usualRulesOf(tenantId)
        const ids = new Set(usual.map(({ id }) => id))
        const unknown = body.rules?.findIndex((id) => !ids.has(id)) ?? -1
        if (unknown >= 0) throw invalid(`rules[${unknown}]`, `expected one of ${[...ids].join(', ')}`)
        // Two callers at once would otherwise both find nothing.
        await lockRules(tx)
        const due = (await standing(tx, tenantId, context)).filter(
          ({ rule, existing }) =>
            existing === undefined && (body.rules === undefined || body.rules.includes(rule.id)),
        )
        const destination =
          body.webhook === null || due.length === 0 ? undefined : newDestination(body.webhook.url)
        const made: RuleRow[] = []
        for (const { rule } of due) {
          const { row } = await createRule(tx, context, audit, {
            name: rule.name,
            condition: rule.condition,
            tenantId,
            webhook: body.webhook,
            ...(destination === undefined ? {} : { keys: destination.keys }),
          })
          made.push(row)
        }
        return {
          status: 201,
          body: {
            data: made.map(ruleJson),
            webhook_secret: destination === undefined ? null : newestSecret(destination),
          },
        }
      },
    }),
  ]
}

/** The usual rules, each with an existing rule of the tenant or, for null, of the operators. */
async function standing(
  db: Queries,
  tenantId: string | null,
  { bounds }: AdminAlertsContext,
): Promise<{ rule: UsualRule; existing: RuleRow | undefined }[]> {
  const rows = await listRules(db, {
    tenantId: tenantId ?? undefined,
    by: 'created_at',
    descending: false,
    after: undefined,
    limit: bounds.alertRulesMax,
  })
  const own = rows.flatMap((row) => {
    const read = alertCondition.safeParse(row.condition)
    return row.tenantId === tenantId && read.success ? [{ row, condition: read.data }] : []
  })
  return usualRulesOf(tenantId).map((rule) => ({
    rule,
    existing: own.find(({ condition }) => watchesTheSame(condition, rule.condition))?.row,
  }))
}
