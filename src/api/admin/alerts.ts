import { z } from 'zod'
import { testWebhook } from '../../alerts/alert-webhook.ts'
import { alertKinds } from '../../alerts/condition.ts'
import {
  type Destination,
  type DestinationCipher,
  openDestination,
  rotated,
  sealDestination,
  signingKeys,
} from '../../alerts/destination.ts'
import { messageText, webhookFormat } from '../../alerts/message-format.ts'
import {
  changeRule,
  closeEpisodes,
  dropMessages,
  findRule,
  listRules,
  type RuleRow,
} from '../../alerts/rule-queries.ts'
import { redactText } from '../../redaction/redact.ts'
import { sendWebhook } from '../../upstream/webhooks/send-webhook.ts'
import { oneOfWords } from '../parameter.ts'
import {
  alertChange,
  alertRequest,
  alertRule,
  alertTestResult,
  alertWithSecret,
  ruleEtag,
  ruleJson,
  ruleShown,
} from './alert-json.ts'
import {
  type AdminAlertsContext,
  aboutRule,
  checkCondition,
  createRule,
  newestSecret,
  noRule,
  noWebhook,
  requireTenant,
  ruleToChange,
  webhookTo,
} from './alert-rule.ts'
import { usualAlertsEndpoints } from './alert-usual.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { listParameters, orderOf, pageOf, pageSchema, placeAt, uuidText } from './list.ts'
import { listedTenant, requireOwn } from './permit.ts'
import { conflict, notFound } from './refusals.ts'

const params = z.object({ id: uuidText })
const area = 'alerts' as const
const tenants = 'own' as const
const answerBytesMax = 256

/** Alert rules, each with a condition and a webhook. */
export function adminAlertsEndpoints(context: AdminAlertsContext): AdminEndpoint[] {
  const { database } = context
  return [
    ...usualAlertsEndpoints(context),
    ruleListEndpoint(context),
    newRuleEndpoint(context),
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/alerts/{id}',
      area,
      tenants,
      summary: 'Get an alert rule',
      params,
      answer: alertRule,
      async handle({ actor, params: { id }, signal }) {
        const row = await database.reads.ask(({ db }) => findRule(db, id), { owner: 'admin', signal })
        if (row === undefined) throw notFound(noRule)
        requireOwn(actor, row.tenantId, noRule)
        return { body: ruleJson(row), etag: ruleEtag(row) }
      },
    }),
    ruleChangeEndpoint(context),
    adminChange({
      method: 'DELETE',
      path: '/admin/v1/alerts/{id}',
      area,
      ifMatch: 'alert',
      tenants,
      summary: 'Delete an alert rule',
      description: 'Its episodes are closed but stay in the list.',
      params,
      answer: z.object({ id: z.uuid(), deleted: z.literal(true) }).meta({ id: 'DeletedAlertRule' }),
      async change({ actor, tx, params: { id }, requireMatch, audit }) {
        const row = await ruleToChange(tx, id)
        requireOwn(actor, row.tenantId, noRule)
        requireMatch(ruleEtag(row))
        await closeEpisodes(tx, row, 'the rule was deleted')
        await changeRule(tx, row, { deletedAt: new Date() })
        await audit({ ...aboutRule(row), action: 'alert.delete', before: ruleShown(row), after: null })
        return { body: { id, deleted: true as const } }
      },
    }),
    newSecretEndpoint(context),
    testMessageEndpoint(context),
  ]
}

function ruleListEndpoint({ database }: AdminAlertsContext): AdminEndpoint {
  return adminEndpoint({
    method: 'GET',
    path: '/admin/v1/alerts',
    area,
    tenants,
    summary: 'List alert rules',
    query: z.strictObject({
      ...listParameters(['-created_at', 'name']),
      kind: oneOfWords(alertKinds).optional(),
      tenant_id: uuidText.optional(),
      enabled: oneOfWords(['true', 'false']).optional(),
    }),
    answer: pageSchema(alertRule).meta({ id: 'AlertRuleList' }),
    async handle({ actor, query, signal }) {
      const { limit, cursor, sort, kind, enabled } = query
      const { by, descending } = orderOf(sort)
      const rows = await database.reads.ask(
        ({ db }) =>
          listRules(db, {
            tenantId: listedTenant(actor, query.tenant_id),
            kind,
            enabled: enabled === undefined ? undefined : enabled === 'true',
            by: by === 'name' ? 'name' : 'created_at',
            descending,
            after: placeAt(sort, cursor),
            limit: limit + 1,
          }),
        { owner: 'admin', signal },
      )
      const page = pageOf(rows, { limit, sort }, ({ id, name }) => ({
        value: by === 'name' ? name : null,
        id,
      }))
      return { body: { ...page, data: page.data.map(ruleJson) } }
    },
  })
}

function newRuleEndpoint(context: AdminAlertsContext): AdminEndpoint {
  return adminChange({
    method: 'POST',
    path: '/admin/v1/alerts',
    area,
    tenants,
    summary: 'Create an alert rule',
    description: 'The response contains the secret that signs its webhooks. The secret is not shown again.',
    body: alertRequest,
    answer: alertWithSecret,
    statuses: [201],
    async change({ actor, tx, body, audit }) {
      const tenantId = listedTenant(actor, body.tenant_id ?? undefined) ?? null
      await requireTenant(tx, tenantId)
      await checkCondition(tx, body.condition, tenantId)
      const { row, secret } = await createRule(tx, context, audit, {
        name: body.name,
        tenantId,
        condition: body.condition,
        enabled: body.enabled,
        resolveAfterSeconds: body.resolve_after_seconds,
        webhook: body.webhook,
      })
      return { status: 201, body: { ...ruleJson(row), webhook_secret: secret }, etag: ruleEtag(row) }
    },
  })
}

function ruleChangeEndpoint(context: AdminAlertsContext): AdminEndpoint {
  return adminChange({
    method: 'PATCH',
    path: '/admin/v1/alerts/{id}',
    area,
    ifMatch: 'alert',
    tenants,
    summary: 'Update an alert rule',
    description:
      'A new webhook gets a new secret, which the response contains. Disabling a rule closes its episodes.',
    params,
    body: alertChange,
    answer: alertWithSecret,
    async change({ actor, tx, params: { id }, body, requireMatch, audit }) {
      const before = await ruleToChange(tx, id)
      requireOwn(actor, before.tenantId, noRule)
      requireMatch(ruleEtag(before))
      if (body.condition !== undefined) await checkCondition(tx, body.condition, before.tenantId)
      const webhook =
        body.webhook === undefined || body.webhook === null ? undefined : webhookTo(body.webhook, id, context)
      const changed = {
        name: body.name ?? before.name,
        kind: body.condition?.kind ?? before.kind,
        condition: body.condition ?? before.condition,
        enabled: body.enabled ?? before.enabled,
        resolveAfterSeconds: body.resolve_after_seconds ?? before.resolveAfterSeconds,
        ...(body.webhook === null ? noWebhook : webhook?.columns),
      }
      const row = await changeRule(tx, before, changed)
      if (!changed.enabled) await closeEpisodes(tx, before, 'the rule was disabled')
      if (body.webhook === null) await dropMessages(tx, id)
      const shown = ruleShown(row)
      await audit({ ...aboutRule(row), action: 'alert.change', before: ruleShown(before), after: shown })
      const webhook_secret = webhook === undefined ? null : newestSecret(webhook.destination)
      return { body: { ...ruleJson(row), webhook_secret }, etag: ruleEtag(row) }
    },
  })
}

function newSecretEndpoint({ alertCipher: cipher }: AdminAlertsContext): AdminEndpoint {
  return adminChange({
    method: 'POST',
    path: '/admin/v1/alerts/{id}/rotate-secret',
    area,
    ifMatch: 'alert',
    tenants,
    summary: 'Rotate the webhook secret of an alert rule',
    description: 'For 24 hours webhooks are also signed with the previous secret.',
    params,
    answer: alertWithSecret,
    async change({ actor, tx, params: { id }, requireMatch, audit }) {
      const row = await ruleToChange(tx, id)
      requireOwn(actor, row.tenantId, noRule)
      requireMatch(ruleEtag(row))
      const destination = rotated(destinationOf(cipher, row), Date.now())
      const webhookSealed = sealDestination(cipher, destination, id)
      const after = await changeRule(tx, row, { webhookSealed })
      const shown = ruleShown(row)
      await audit({ ...aboutRule(row), action: 'alert.rotate_secret', before: shown, after: shown })
      return {
        body: { ...ruleJson(after), webhook_secret: newestSecret(destination) },
        etag: ruleEtag(after),
      }
    },
  })
}

function testMessageEndpoint({
  database,
  alertCipher: cipher,
  privateWebhooks,
  bounds,
}: AdminAlertsContext): AdminEndpoint {
  return adminEndpoint({
    method: 'POST',
    path: '/admin/v1/alerts/{id}/test',
    area,
    tenants,
    summary: 'Send one test message to the webhook of an alert rule',
    params,
    answer: alertTestResult,
    async handle({ actor, params: { id }, requestId, signal }) {
      const row = await database.reads.ask(({ db }) => findRule(db, id), { owner: 'admin', signal })
      if (row === undefined) throw notFound(noRule)
      requireOwn(actor, row.tenantId, noRule)
      const destination = destinationOf(cipher, row)
      const now = new Date()
      const receipt = await sendWebhook({
        url: destination.url,
        keys: signingKeys(destination, now.getTime()),
        message: {
          id: `msg_test_${requestId}`,
          timestamp: Math.floor(now.getTime() / 1000),
          body: messageText(webhookFormat(row.webhookFormat), testWebhook(row, now), undefined),
        },
        allowPrivateAddresses: privateWebhooks,
        withinMs: bounds.webhookMs,
        answerBytesMax,
      })
      return {
        body: {
          delivered: receipt.taken,
          status: receipt.status ?? null,
          answer: actor.tenantId === null ? redactText(receipt.answer) : null,
          problem: receipt.taken ? null : redactText(receipt.problem),
        },
      }
    },
  })
}

/** Throws `conflict` if there is no webhook or it cannot be decrypted. */
function destinationOf(cipher: DestinationCipher, row: RuleRow): Destination {
  if (row.webhookSealed === null) throw conflict('The rule has no webhook. Add one first.', 'webhook')
  try {
    return openDestination(cipher, row.webhookSealed, row.id)
  } catch {
    throw conflict('The webhook was sealed with another SECRET_KEY. Enter it again.', 'webhook')
  }
}
