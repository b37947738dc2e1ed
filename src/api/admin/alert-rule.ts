import { type AlertCondition, sharedSubject } from '../../alerts/condition.ts'
import {
  type Destination,
  type DestinationCipher,
  newDestination,
  sealDestination,
} from '../../alerts/destination.ts'
import { countRules, findRule, isThere, type RuleRow } from '../../alerts/rule-queries.ts'
import { invalid } from '../../canonical/field-error.ts'
import type { Queries } from '../../db/transactions.ts'
import { isRefusedHost, readWebhookUrl, webhookUrlForm } from '../../upstream/webhooks/webhook-url.ts'
import { conflict, notFound } from './refusals.ts'

// Checks of a rule that depend on more than its body.

export const noRule = 'such alert rule'

/** Reads the rule and locks it for a change. The caller checks the member's tenant. */
export async function ruleToChange(tx: Queries, id: string): Promise<RuleRow> {
  const row = await findRule(tx, id, true)
  if (row === undefined) throw notFound(noRule)
  return row
}

/**
 * Throws `invalid_request` if the condition is not allowed for the rule's tenant or refers to something that
 * does not exist.
 */
export async function checkCondition(
  tx: Queries,
  condition: AlertCondition,
  tenantId: string | null,
): Promise<void> {
  const problem = tenantId === null ? undefined : sharedSubject(condition)
  if (problem !== undefined) throw invalid('condition', problem)
  if (condition.kind === 'budget' && condition.id !== null) {
    if (!(await isThere(tx, condition.of, condition.id, tenantId)))
      throw invalid('condition.id', `there is no such ${condition.of}`)
  }
  if (condition.kind === 'new_network' && condition.key_id !== null) {
    if (!(await isThere(tx, 'key', condition.key_id, tenantId)))
      throw invalid('condition.key_id', 'there is no such key')
  }
}

/** Throws `conflict` if the maximum number of rules is reached. */
export async function requireRoom(
  tx: Queries,
  tenantId: string | null,
  { alertRulesMax, alertTenantRulesMax }: { alertRulesMax: number; alertTenantRulesMax: number },
): Promise<void> {
  const { all, own } = await countRules(tx, tenantId)
  if (tenantId !== null && own >= alertTenantRulesMax)
    throw conflict(
      `The tenant already has ${own} alert rules, the maximum (ALERT_TENANT_RULES_MAX). Delete one first.`,
    )
  if (all >= alertRulesMax)
    throw conflict(`There are already ${all} alert rules, the maximum (ALERT_RULES_MAX). Delete one first.`)
}

export interface NewWebhook {
  destination: Destination
  columns: Pick<RuleRow, 'webhookHost' | 'webhookSealed'>
}

/** Throws `invalid_request` for an address to which webhooks are not sent. */
export function webhookTo(
  text: string,
  ruleId: string,
  cipher: DestinationCipher,
  allowPrivate: boolean,
): NewWebhook {
  const url = readWebhookUrl(text)
  if (url === undefined) throw invalid('webhook.url', `expected ${webhookUrlForm}`)
  if (isRefusedHost(url, allowPrivate))
    throw invalid(
      'webhook.url',
      `webhooks are not sent to the address ${url.hostname}. Use a host name or a public address`,
    )
  const destination = newDestination(url.href)
  return {
    destination,
    columns: { webhookHost: url.host, webhookSealed: sealDestination(cipher, destination, ruleId) },
  }
}
