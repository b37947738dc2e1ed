import { randomUUIDv7 } from 'node:crypto'
import type { AuditEntry } from '../../access/audit-queries.ts'
import { type AlertCondition, sharedSubject } from '../../alerts/condition.ts'
import {
  type Destination,
  type DestinationCipher,
  newDestination,
  sealDestination,
} from '../../alerts/destination.ts'
import type { WebhookFormat } from '../../alerts/message-format.ts'
import { addRule, countRules, findRule, isThere, type RuleRow } from '../../alerts/rule-queries.ts'
import { invalid } from '../../canonical/field-error.ts'
import type { Database } from '../../db/database.ts'
import type { Queries } from '../../db/transactions.ts'
import { secretOf } from '../../upstream/webhooks/signature.ts'
import { isRefusedHost, readWebhookUrl, webhookUrlForm } from '../../upstream/webhooks/webhook-url.ts'
import { ruleShown } from './alert-json.ts'
import { conflict, notFound } from './refusals.ts'

// Checks of a rule that depend on more than its body, and its creation.

export interface AdminAlertsContext {
  database: Pick<Database, 'reads'>
  alertCipher: DestinationCipher
  /** Whether webhooks can be sent to loopback and private addresses. */
  privateWebhooks: boolean
  bounds: { alertRulesMax: number; alertTenantRulesMax: number; webhookMs: number }
}

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

/** Throws `invalid_request` if there is no such tenant. Null stands for all tenants. */
export async function requireTenant(tx: Queries, tenantId: string | null): Promise<void> {
  if (tenantId !== null && !(await isThere(tx, 'tenant', tenantId, null)))
    throw invalid('tenant_id', 'there is no such tenant')
}

/** Throws `conflict` if the maximum number of rules is reached. */
async function requireRoom(
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

/** What a body says about a webhook. */
interface StatedWebhook {
  url: string
  format: WebhookFormat
}

export interface NewWebhook {
  destination: Destination
  columns: Pick<RuleRow, 'webhookHost' | 'webhookFormat' | 'webhookSealed'>
}

/**
 * Throws `invalid_request` for an address to which webhooks are not sent. `keys` sign its messages; by
 * default there is a new one.
 */
export function webhookTo(
  { url: text, format }: StatedWebhook,
  ruleId: string,
  { alertCipher: cipher, privateWebhooks: allowPrivate }: AdminAlertsContext,
  keys?: Destination['keys'],
): NewWebhook {
  const url = readWebhookUrl(text)
  if (url === undefined) throw invalid('webhook.url', `expected ${webhookUrlForm}`)
  if (isRefusedHost(url, allowPrivate))
    throw invalid(
      'webhook.url',
      `webhooks are not sent to the address ${url.hostname}. Use a host name or a public address`,
    )
  const destination = keys === undefined ? newDestination(url.href) : { url: url.href, keys }
  const webhookSealed = sealDestination(cipher, destination, ruleId)
  return { destination, columns: { webhookHost: url.host, webhookFormat: format, webhookSealed } }
}

export const noWebhook = { webhookHost: null, webhookFormat: null, webhookSealed: null } as const

/**
 * Adds a rule that is evaluated from now on, unless it says otherwise, with its line in the audit log. The
 * secret is null without a webhook. Throws `conflict` if the maximum number of rules is reached.
 */
export async function createRule(
  tx: Queries,
  context: AdminAlertsContext,
  audit: (entry: AuditEntry) => Promise<void>,
  wanted: {
    name: string
    tenantId: string | null
    condition: AlertCondition
    enabled?: boolean
    resolveAfterSeconds?: number
    webhook: StatedWebhook | null
    /** Sign its messages; absent: a new one. */
    keys?: Destination['keys']
  },
): Promise<{ row: RuleRow; secret: string | null }> {
  const { name, tenantId, condition } = wanted
  await requireRoom(tx, tenantId, context.bounds)
  const id = randomUUIDv7()
  const webhook = wanted.webhook === null ? undefined : webhookTo(wanted.webhook, id, context, wanted.keys)
  const row: RuleRow = {
    id,
    tenantId,
    name,
    kind: condition.kind,
    condition,
    enabled: wanted.enabled ?? true,
    resolveAfterSeconds: wanted.resolveAfterSeconds ?? 300,
    ...(webhook?.columns ?? noWebhook),
    version: 1,
    evaluatedAt: null,
    createdAt: new Date(),
    deletedAt: null,
  }
  await addRule(tx, row)
  await audit({ ...aboutRule(row), action: 'alert.create', before: null, after: ruleShown(row) })
  return { row, secret: webhook === undefined ? null : newestSecret(webhook.destination) }
}

/** What the audit log says a change is about. */
export function aboutRule({ id, name, tenantId }: RuleRow) {
  return { resource: 'alert', id, name, tenantId }
}

export function newestSecret({ keys: [newest] }: Destination): string {
  return secretOf(Buffer.from(newest?.key ?? '', 'base64'))
}
