import { z } from 'zod'
import { writeAudit } from '../access/audit-queries.ts'
import type { Identity } from '../access/identity.ts'
import { modelsFor } from '../access/permitted.ts'
import type { FollowedRevisions } from '../access/revision.ts'
import { listSubKeys, makeSubKey, revokeSubKey, type SubKeyRow } from '../access/sub-key-queries.ts'
import { SubKeyTurns } from '../access/sub-key-turns.ts'
import { gatewayError } from '../canonical/error.ts'
import { invalid } from '../canonical/field-error.ts'
import type { ModelLists } from '../catalog/listed-models.ts'
import type { Database } from '../db/database.ts'
import { budget, limitsFrom, limitsJson, ownLimits } from '../db/settings/bounds.ts'
import { cidr, expiry, name } from '../db/settings/values.ts'
import type { TypedTransaction } from '../db/transactions.ts'
import type { Allowance } from '../limits/limits.ts'
import { usd } from '../money/price.ts'
import type { Identified } from '../pipeline/identify.ts'
import type { SecretKeeper } from '../secrets/secret-key.ts'
import { budgetAnswer, readMoney } from './budget.ts'
import { type ClientEndpoint, keyEndpoint } from './endpoint.ts'
import { noParameters } from './parameter.ts'
import { readFor } from './read-for.ts'
import type { UsageContext } from './usage.ts'

export interface KeyContext {
  database: Pick<Database, 'admin' | 'reads'>
  modelLists: { readonly lists: ModelLists }
  keeper: Pick<SecretKeeper, 'pepper'>
  revisions: Pick<FollowedRevisions, 'applied'>
  bounds: { adminConnections: number }
}

const rate = z
  .object({
    limit: z.int(),
    remaining: z.int(),
    full_in_ms: z.int().describe('The milliseconds until `remaining` equals `limit` again.'),
  })
  .nullable()
  .describe('The limit with the least remaining, of all that apply. Null if there is none.')

const moment = z.iso.datetime().nullable()

const ownKey = z
  .object({
    id: z.uuid(),
    name: z.string(),
    tenant: z.string(),
    group: z.string(),
    parent_id: z.uuid().nullable().describe('The parent key, if this is a sub-key.'),
    capture: z.enum(['none', 'shape', 'content']).describe('What the usage log keeps of request bodies.'),
    usage_scope: z.enum(['tenant', 'key']),
    expires_at: moment,
    allowed_cidrs: z.array(z.string()).nullable().describe('Null if any address is allowed.'),
    requests_per_minute: rate,
    tokens_per_minute: rate,
    concurrency: z
      .int()
      .nullable()
      .describe('The maximum number of concurrent requests. Null if there is no limit.'),
    money: budgetAnswer,
    models: z
      .array(z.string())
      .describe('The models that the key can use. `GET /v1/models` describes each of them.'),
    sub_keys_max: z.int().describe('The maximum number of sub-keys at a time.'),
  })
  .meta({ id: 'OwnKey' })

const subKeyRequest = z
  .strictObject({
    name: name(128),
    allowed_models: z
      .array(name(256))
      .min(1)
      .optional()
      .describe('Model ids. Default: the models of this key.'),
    allowed_cidrs: z
      .array(cidr)
      .min(1)
      .optional()
      .describe('CIDR blocks, which apply in addition to those of this key.'),
    expires_at: expiry.optional(),
    limits: ownLimits.describe(
      'Limits that apply in addition to those of this key, which all its sub-keys share.',
    ),
    budget: budget.describe(
      'A budget in USD, which applies in addition to that of this key, which all its sub-keys share.',
    ),
  })
  .meta({ id: 'SubKeyRequest' })

const limitsShown = z.object({
  requests_per_minute: z.int().nullable(),
  tokens_per_minute: z.int().nullable(),
  concurrency: z.int().nullable(),
})
const budgetShown = z.object({
  day: z.string().nullable(),
  month: z.string().nullable(),
  total: z.string().nullable(),
})

const subKey = z
  .object({
    id: z.uuid(),
    name: z.string(),
    hint: z.string().describe('The first characters of the secret.'),
    allowed_models: z.array(z.string()).nullable(),
    allowed_cidrs: z.array(z.string()).nullable(),
    limits: limitsShown,
    budget: budgetShown.describe('The budget in USD.'),
    expires_at: moment,
    revoked_at: moment,
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'SubKey' })

const madeSubKey = subKey
  .extend({ secret: z.string().describe('The secret, which is shown only once.') })
  .meta({ id: 'MadeSubKey' })

const listMax = 1000
const terms = { withinMs: 5_000 }
/** The limits for waiting changes of sub-keys. */
const queue = { waitingMax: 20, waitMs: 5_000 }

/** Endpoints with which a key can read its own settings and, if allowed, manage its sub-keys. */
export function keyEndpoints(context: KeyContext, usage: Omit<UsageContext, 'archive'>): ClientEndpoint[] {
  const { database } = context
  const change = changesInTurns(context)
  return [
    keyEndpoint({
      method: 'GET',
      path: '/v1/key',
      summary: 'Get the settings of this key and what is left of its limits',
      description: 'The call counts as one request against the limits that it shows.',
      limited: true,
      query: noParameters,
      answer: ownKey,
      async handle({ stage }) {
        return { body: await keyJson(context, usage, stage) }
      },
    }),
    keyEndpoint({
      method: 'GET',
      path: '/v1/keys',
      summary: 'List the sub-keys of this key, newest first',
      query: noParameters,
      answer: z.object({ data: z.array(subKey) }).meta({ id: 'SubKeyList' }),
      async handle({ stage }) {
        const rows = await readFor(stage, (asked) =>
          database.reads.ask(({ db }) => listSubKeys(db, stage.identity.keyId, listMax), {
            ...terms,
            ...asked,
          }),
        )
        return { body: { data: rows.map(subKeyJson) } }
      },
    }),
    newSubKeyEndpoint(context, change),
    revokeEndpoint(change),
  ]
}

type ChangeInTurn = <T>(stage: Identified, work: (tx: TypedTransaction) => Promise<T>) => Promise<T>

function changesInTurns({ database, revisions, bounds }: KeyContext): ChangeInTurn {
  let turns: SubKeyTurns | undefined
  const turnsOf = () => {
    // Leaves half of the connections to admins.
    const atOnce = Math.max(1, Math.floor(bounds.adminConnections / 2))
    turns ??= new SubKeyTurns({ ...queue, atOnce })
    return turns
  }
  return async (stage, work) => {
    const changed = await readFor(stage, (caller) =>
      turnsOf().run(caller, () => database.admin.transact(work, terms)),
    )
    await revisions.applied()
    return changed
  }
}

function newSubKeyEndpoint({ keeper }: KeyContext, change: ChangeInTurn): ClientEndpoint {
  return keyEndpoint({
    method: 'POST',
    path: '/v1/keys',
    summary: 'Create a sub-key with no more rights than this key',
    description: "The sub-key's usage also counts against the budgets and limits of this key.",
    limited: true,
    logged: true,
    body: subKeyRequest,
    statuses: [201],
    answer: madeSubKey,
    async handle({ stage, body }) {
      const { identity } = stage
      requireMaker(identity)
      requireAllowed(identity, body.allowed_models)
      const made = await change(stage, async (tx) => {
        const answer = await makeSubKey(
          tx,
          identity.keyId,
          {
            name: body.name,
            allowedModels: body.allowed_models,
            allowedCidrs: body.allowed_cidrs,
            expiresAt: body.expires_at,
            limits: body.limits,
            budget: body.budget,
          },
          keeper.pepper,
        )
        if (answer.verdict === 'made')
          await writeAudit(tx, sourceOf(stage), {
            action: 'key.create',
            resource: 'key',
            id: answer.row.id,
            name: answer.row.name,
            tenantId: identity.tenantId,
            after: { ...subKeyJson(answer.row), parent_id: identity.keyId },
          })
        return answer
      })
      switch (made.verdict) {
        case 'made':
          return { status: 201, body: { ...subKeyJson(made.row), secret: made.secret } }
        case 'taken':
          throw invalid('name', 'another key of this tenant already has this name')
        case 'too-many':
          throw gatewayError('sub_keys_max', { most: made.most })
        case 'gone':
          throw gatewayError('sub_keys_not_allowed')
      }
    },
  })
}

function revokeEndpoint(change: ChangeInTurn): ClientEndpoint {
  return keyEndpoint({
    method: 'DELETE',
    path: '/v1/keys/{id}',
    summary: 'Revoke a sub-key (takes effect in all processes within a second)',
    logged: true,
    params: z.object({ id: z.string() }),
    answer: subKey,
    async handle({ stage, params: { id } }) {
      const { identity } = stage
      if (!z.uuid().safeParse(id).success) throw gatewayError('sub_key_not_found')
      const ended = await change(stage, async (tx) => {
        const revoked = await revokeSubKey(tx, identity.keyId, id)
        if (revoked?.isNew === true)
          await writeAudit(tx, sourceOf(stage), {
            action: 'key.revoke',
            resource: 'key',
            id,
            name: revoked.row.name,
            tenantId: identity.tenantId,
            after: subKeyJson(revoked.row),
          })
        return revoked
      })
      if (ended === undefined) throw gatewayError('sub_key_not_found')
      return { body: subKeyJson(ended.row) }
    },
  })
}

async function keyJson(
  { modelLists }: KeyContext,
  usage: Omit<UsageContext, 'archive'>,
  stage: Identified,
): Promise<z.input<typeof ownKey>> {
  const { identity, snapshot, group, life } = stage
  const { keyId, keyName, tenantId, capture, usageScope, expiresAt, allowedCidrs, parent } = identity
  const limits = identity.limits ?? parent?.limits ?? group.limits
  return {
    id: keyId,
    name: keyName,
    tenant: snapshot.tenants.get(tenantId)?.name ?? '',
    group: group.name,
    parent_id: parent?.keyId ?? null,
    capture,
    usage_scope: usageScope,
    expires_at: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
    allowed_cidrs: cidrsJson(allowedCidrs ?? parent?.allowedCidrs),
    requests_per_minute: rateJson(life.lease?.requests),
    tokens_per_minute: rateJson(life.lease?.tokens),
    concurrency: limits.concurrency ?? null,
    money: await readMoney(usage, stage),
    models: modelsFor(snapshot, identity, modelLists.lists).map(({ id }) => id),
    sub_keys_max: identity.subKeysMax,
  }
}

function cidrsJson(cidrs: readonly string[] | undefined): string[] | null {
  return cidrs === undefined ? null : [...cidrs]
}

function rateJson(allowance: Allowance | undefined) {
  if (allowance === undefined) return null
  const { limit, remaining, resetMs } = allowance
  return { limit, remaining, full_in_ms: resetMs }
}

function subKeyJson(row: SubKeyRow): z.input<typeof subKey> {
  return {
    id: row.id,
    name: row.name,
    hint: row.hint,
    allowed_models: row.allowedModels,
    allowed_cidrs: row.allowedCidrs,
    limits: limitsJson(limitsFrom(row)),
    budget: {
      day: usdOrNull(row.budgetDay),
      month: usdOrNull(row.budgetMonth),
      total: usdOrNull(row.budgetTotal),
    },
    expires_at: row.expiresAt?.toISOString() ?? null,
    revoked_at: row.revokedAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
  }
}

function usdOrNull(nano: bigint | null): string | null {
  return nano === null ? null : usd(nano)
}

function sourceOf({ identity, clientAddress, exchange, id }: Identified) {
  return {
    actor: { kind: 'key' as const, id: identity.keyId, userId: null, name: identity.keyName },
    address: clientAddress,
    userAgent: exchange.headers['user-agent']?.slice(0, 512) ?? null,
    requestId: id,
  }
}

function requireMaker({ subKeysMax }: Identity): void {
  if (subKeysMax === 0) throw gatewayError('sub_keys_not_allowed')
}

/** Refuses a model that this key itself cannot use, because it would never work. */
function requireAllowed({ allowedModels }: Identity, wanted: readonly string[] | undefined): void {
  const index = wanted?.findIndex((model) => allowedModels !== undefined && !allowedModels.has(model)) ?? -1
  if (index !== -1)
    throw invalid(`allowed_models[${index}]`, 'this key itself is not allowed to use that model')
}
