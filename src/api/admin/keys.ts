import { randomUUIDv7 } from 'node:crypto'
import { z } from 'zod'
import type { Actor } from '../../access/actor.ts'
import { carryBlocks } from '../../access/key-block-queries.ts'
import { keyHint, makeKeySecret } from '../../access/key-secret.ts'
import type { Keys } from '../../access/keys.ts'
import { modelsFor } from '../../access/permitted.ts'
import { addKeys } from '../../access/queries.ts'
import { networkOf } from '../../alerts/network.ts'
import { expected } from '../../canonical/checked.ts'
import { invalid } from '../../canonical/field-error.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import { type KeyEntry, keyEntry, keySettings } from '../../catalog/gateway-file.ts'
import { holdCharges, lockRows } from '../../catalog/queries.ts'
import type { Database } from '../../db/database.ts'
import { settingsOfKeys, settingsOfParents } from '../../db/settings/key-settings.ts'
import { toRow } from '../../db/settings/setting.ts'
import type { TypedTransaction } from '../../db/transactions.ts'
import { moment, text } from '../parameter.ts'
import { type AdminChange, type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { etagOf } from './etag.ts'
import { findGroup, readNames } from './group-queries.ts'
import { keyJson, keyListed, keySettingsIn, keyShown, listedKeyJson, madeKey } from './key-json.ts'
import {
  changeKey,
  findKey,
  findKeyBySecret,
  findNamesake,
  isSecretTaken,
  type KeyWithNames,
  type ListedKey,
  listKeys,
  lockKey,
} from './key-queries.ts'
import { onlyModels, requireModels } from './known-names.ts'
import { listParameters, orderOf, pageOf, pageSchema, rowPlaceAt, uuidText } from './list.ts'
import { spendDays, spendFrom } from './listed-spend.ts'
import { type ManagedContext, refuseManaged } from './managed.ts'
import { noKeyIn, requireMemberBounds } from './member-bounds.ts'
import { listedTenant, requireOwn } from './permit.ts'
import { conflict, notAllowed, notFound } from './refusals.ts'
import { merged, type Settings, settingBody } from './setting-body.ts'
import { budgetMs, nameFilters, yesOrNo } from './setting-schema.ts'
import { findTenant } from './tenant-queries.ts'

export interface AdminKeysContext extends ManagedContext {
  database: Pick<Database, 'reads'>
  keys: Pick<Keys, 'hashOf' | 'hashesOf'>
  catalog: Pick<Catalog, 'snapshot'>
}

export const keyParams = z.object({ id: uuidText.describe('The id of the key.') })

/** A network of `key_networks`. */
const networkText = text
  .transform((called) => networkOf(called.replace(/\/\d{1,3}$/, '')))
  .refine((network) => network !== undefined, expected('an address, or a network as shown for a key'))
  .describe(
    'Only keys that were used from this network, or the network of this address, in the last 90 days.',
  )

const tenantMember = z.string().describe('The id or the name of the tenant.')
const newKey = settingBody(keySettings.extend({ tenant: tenantMember }), {
  id: 'NewKey',
  leaveOut: ['secret'],
  required: ['tenant', 'name'],
})
const importedKey = settingBody(keySettings.extend({ tenant: tenantMember }), {
  id: 'ImportedKey',
  required: ['tenant', 'name', 'secret'],
})

/**
 * Endpoints for keys. Keys are never deleted, because the usage log still refers to them. A revoked key is
 * refused permanently.
 */
export function keysEndpoints(context: AdminKeysContext): AdminEndpoint[] {
  const { database } = context
  return [
    keyListEndpoint(context),
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/keys/{id}',
      area: 'keys',
      tenants: 'own',
      summary: 'Get a key',
      params: keyParams,
      answer: keyShown,
      async handle({ actor, params: { id }, signal }) {
        const row = await database.reads.ask(({ db }) => findKey(db, id), { owner: 'admin', signal })
        if (row === undefined) throw notFound('such key')
        requireOwn(actor, row.tenantId, 'such key')
        const shown = keyJson(row)
        return { body: shown, etag: etagOf(shown) }
      },
    }),
    adminChange({
      method: 'POST',
      path: '/admin/v1/keys',
      area: 'keys',
      tenants: 'own',
      summary: 'Create a key',
      description:
        'The response contains the secret, which is only shown again for a repeated call with the same Idempotency-Key.',
      body: newKey,
      statuses: [201],
      answer: madeKey,
      async change(call) {
        const secret = makeKeySecret()
        const shown = keyJson(await makeKey(context, call, { secret, action: 'key.make' }))
        return { status: 201, body: { ...shown, secret }, etag: etagOf(shown) }
      },
    }),
    adminChange({
      method: 'POST',
      path: '/admin/v1/keys/import',
      area: 'keys',
      summary: 'Import a key with its existing secret',
      description: 'For keys of another gateway, so that clients can keep their secrets.',
      body: importedKey,
      statuses: [201],
      answer: keyShown,
      async change(call) {
        const { secret } = call.body
        if (typeof secret !== 'string') throw invalid('secret', 'expected a string')
        const shown = keyJson(await makeKey(context, call, { secret, action: 'key.import' }))
        return { status: 201, body: shown, etag: etagOf(shown) }
      },
    }),
    keyChangeEndpoint(context),
    keyFindEndpoint(context),
  ]
}

function keyListEndpoint({ database }: AdminKeysContext): AdminEndpoint {
  return adminEndpoint({
    method: 'GET',
    path: '/admin/v1/keys',
    area: 'keys',
    tenants: 'own',
    summary: 'List keys',
    query: z.strictObject({
      ...listParameters(['-created_at', 'name', 'expires_at', 'last_used_at', 'new_network_at', 'spend']),
      ...nameFilters,
      spend_days: spendDays,
      tenant: text.optional().describe('The id or the name of the tenant.'),
      group: text.optional().describe('The id or the name of the group.'),
      hint: text.optional().describe('The hint of a key, as shown in the list.'),
      disabled: yesOrNo.optional(),
      revoked: yesOrNo.optional(),
      blocked: yesOrNo.optional().describe('Whether a person has blocked the key or its parent.'),
      expires_before: moment('first moment').optional(),
      network: networkText.optional(),
      new_network_since: moment('first moment')
        .optional()
        .describe('Only keys that have been used from a new network since this time.'),
    }),
    answer: pageSchema(keyListed).meta({ id: 'KeyList' }),
    async handle({ actor, query: { limit, cursor, sort, spend_days, ...filter }, signal }) {
      const order = orderOf(sort)
      const from = spendFrom(actor, spend_days, order.by)
      const wanted = {
        ...filter,
        spendFrom: from,
        tenantId: listedTenant(actor),
        order,
        after: rowPlaceAt(sort, cursor),
        limit: limit + 1,
      }
      const rows = await database.reads.ask(({ db }) => listKeys(db, wanted), { owner: 'admin', signal })
      const page = pageOf(rows, { limit, sort }, (row) => ({ value: sortedBy(order.by, row), id: row.id }))
      return { body: { ...page, data: page.data.map((row) => listedKeyJson(row, from !== undefined)) } }
    },
  })
}

function keyChangeEndpoint(context: AdminKeysContext): AdminEndpoint {
  return adminChange({
    method: 'PATCH',
    path: '/admin/v1/keys/{id}',
    area: 'keys',
    ifMatch: 'key',
    tenants: 'own',
    summary: 'Update a key',
    withinMs: budgetMs,
    description:
      'Absent settings stay unchanged; null restores the default. A revoked key can only be renamed.',
    params: keyParams,
    body: settingBody(keySettings, { id: 'KeyChange', leaveOut: ['secret'] }),
    answer: keyShown,
    async change({ tx, actor, params: { id }, body, requireMatch, audit }) {
      const row = await lockOwnKey(context, { tx, actor, requireMatch, setsBudget: isBudget(body) }, id)
      const before = keyJson(row)
      if (row.revokedAt !== null && Object.keys(body).some((member) => member !== 'name'))
        throw isRevoked(row)
      const shared = ofParent.find((member) => body[member] !== undefined)
      if (row.parentId !== null && shared !== undefined)
        throw conflict(
          `The key "${row.name}" is a sub-key, which takes "${shared}" from its parent key. Change it there.`,
          shared,
        )
      const entry = merged(keyEntry, keySettingsIn(before), body)
      await requireFreeName(context, { tx, actor }, { tenantId: row.tenantId, name: entry.name }, id)
      requireEnabler(actor, row, entry)
      const groupId = await groupOf({ tx, actor }, entry, { tenantId: row.tenantId, before: row })
      requireModels(await namesFor(context, { tx, actor }, groupId), {
        field: 'allowed_models',
        wanted: entry.allowedModels ?? [],
        before: row.allowedModels ?? [],
      })
      // If an admin disables a key that a member has disabled, it counts as disabled by the admin.
      const takesOver = row.disabledAt === null || (body.disabled === true && actor.tenantId === null)
      const changed = await changeKey(tx, id, {
        name: entry.name,
        groupId,
        ...toRow(settingsOfKeys, entry, row),
        disabledByMember: takesOver ? isDisabling(actor, entry) : entry.disabled && row.disabledByMember,
      })
      const after = keyJson(changed)
      await audit({ ...keyLine(changed, 'key.change'), before, after })
      return { body: after, etag: etagOf(after) }
    },
  })
}

/**
 * Is a POST, so that the secret is in the body and in no address. It changes nothing, so that the secret is
 * in no audit line and no answer is stored for an Idempotency-Key. A caller who may read keys gains nothing
 * by guessing, because the list shows the same keys.
 */
function keyFindEndpoint({ database, keys }: AdminKeysContext): AdminEndpoint {
  return adminEndpoint({
    method: 'POST',
    path: '/admin/v1/keys/find',
    area: 'keys',
    verb: 'read',
    tenants: 'own',
    summary: 'Find the key that has a secret',
    description:
      'Also finds revoked keys, sub-keys, and a key by the secret before its last rotation. The secret is neither logged nor stored.',
    body: z.strictObject({ secret: z.string().trim().min(16).max(512) }).meta({ id: 'KeySearch' }),
    answer: keyShown,
    async handle({ actor, body: { secret }, signal }) {
      const row = await database.reads.ask(
        ({ db }) => findKeyBySecret(db, keys.hashesOf(secret), listedTenant(actor)),
        { owner: 'admin', signal },
      )
      if (row === undefined) throw notFound('key with this secret')
      const shown = keyJson(row)
      return { body: shown, etag: etagOf(shown) }
    },
  })
}

/** Settings that a sub-key shares with its parent or does not have. */
const ofParent = ['group', ...Object.keys(settingsOfParents), 'sub_keys']

type Call = Pick<AdminChange, 'tx' | 'actor' | 'audit'>

/** Throws `conflict` if the name is taken. */
async function makeKey(
  context: AdminKeysContext,
  { tx, actor, audit, body }: Call & { body: Settings },
  { secret, action }: { secret: string; action: string },
): Promise<KeyWithNames> {
  const { tenant: called, ...settings } = body
  if (typeof called !== 'string' || !text.safeParse(called).success)
    throw invalid('tenant', 'expected the id or the name of a tenant')
  const entry = merged(keyEntry, {}, settings)
  await lockRows(tx)
  if (isBudget(body)) await holdCharges(tx)
  const tenant = await findTenant(tx, called)
  if (tenant === undefined || (actor.tenantId !== null && actor.tenantId !== tenant.id))
    throw invalid('tenant', `there is no tenant "${called.slice(0, 128)}"`)
  await requireFreeName(context, { tx, actor }, { tenantId: tenant.id, name: entry.name }, undefined)
  const groupId = await groupOf({ tx, actor }, entry, { tenantId: tenant.id, before: undefined })
  requireModels(await namesFor(context, { tx, actor }, groupId), {
    field: 'allowed_models',
    wanted: entry.allowedModels ?? [],
    before: [],
  })
  const secretHash = context.keys.hashOf(secret)
  if (await isSecretTaken(tx, secretHash)) throw conflict('Another key already has this secret.', 'secret')
  const id = randomUUIDv7()
  await addKeys(tx, [
    {
      id,
      tenantId: tenant.id,
      groupId,
      name: entry.name,
      secretHash,
      hint: keyHint(secret),
      ...toRow(settingsOfKeys, entry),
      disabledByMember: isDisabling(actor, entry),
      managedBy: 'admin',
    },
  ])
  await carryBlocks(tx, [{ keyId: id, hashes: context.keys.hashesOf(secret) }])
  const row = await findKey(tx, id)
  if (row === undefined) throw new Error('a key was not inserted')
  await audit({ ...keyLine(row, action), after: keyJson(row) })
  return row
}

/** Returns the audit log line for a change of a key. */
export function keyLine({ id, name, tenantId }: KeyWithNames, action: string) {
  return { action, resource: 'key', id, name, tenantId }
}

/**
 * Locks a key that the caller is allowed to change. Throws `unknown_path`, `precondition_failed`, or
 * `conflict` if the file manages the key, unless `ofFile` allows it.
 */
export async function lockOwnKey(
  context: ManagedContext,
  {
    tx,
    actor,
    requireMatch,
    setsBudget = false,
    ofFile = false,
  }: Pick<AdminChange, 'tx' | 'actor' | 'requireMatch'> & { setsBudget?: boolean; ofFile?: boolean },
  id: string,
): Promise<KeyWithNames> {
  await lockRows(tx)
  // See holdCharges.
  if (setsBudget) await holdCharges(tx)
  const row = await lockKey(tx, id)
  if (row === undefined) throw notFound('such key')
  requireOwn(actor, row.tenantId, 'such key')
  requireMatch(etagOf(keyJson(row)))
  if (!ofFile)
    await refuseManaged(tx, context, row, { kind: 'key', name: row.name, tenant: row.tenant }, actor)
  return row
}

export function isRevoked({ name }: KeyWithNames) {
  return conflict(`The key "${name}" is revoked, which is final. Create another key.`)
}

/** Whether a member leaves the key disabled. */
const isDisabling = ({ tenantId }: Actor, { disabled }: KeyEntry) => disabled && tenantId !== null

/** Throws `permission_denied` if a member enables a key that an admin has disabled. */
function requireEnabler({ tenantId }: Actor, row: KeyWithNames, { disabled }: KeyEntry): void {
  if (tenantId === null || row.disabledAt === null || row.disabledByMember || disabled) return
  throw notAllowed(`The key "${row.name}" was disabled by an admin. Ask an admin to enable it.`)
}

const isBudget = ({ budget }: Settings) => budget !== undefined && budget !== null

async function requireFreeName(
  context: ManagedContext,
  { tx, actor }: { tx: TypedTransaction; actor: Actor },
  place: { tenantId: string; name: string },
  ownId: string | undefined,
): Promise<void> {
  const other = await findNamesake(tx, place)
  if (other === undefined || other.id === ownId) return
  const { name, tenant } = other
  // A member has no other words for it: the key itself is in its list.
  if (actor.tenantId === null) await refuseManaged(tx, context, other, { kind: 'key', name, tenant })
  throw conflict(
    other.revokedAt === null
      ? `The tenant "${tenant}" already has a key "${name}". Choose another name.`
      : `The tenant "${tenant}" has a revoked key "${name}". Choose another name or rename that key.`,
    'name',
    'name_taken',
  )
}

/**
 * Returns the names that the lists of a key in the group can contain. A member receives the same error for an
 * unknown model and for one of other groups.
 */
async function namesFor(
  { catalog }: Pick<AdminKeysContext, 'catalog'>,
  { tx, actor }: { tx: TypedTransaction; actor: Actor },
  groupId: string,
) {
  const names = await readNames(tx)
  if (actor.tenantId === null) return names
  const own = modelsFor(catalog.snapshot, { groupId, allowedModels: undefined })
  return onlyModels(names, new Set(own.map(({ id }) => id)))
}

/**
 * Returns the id of the key's group. For a member, the group, limits and budget are restricted; see
 * `requireMemberBounds`.
 */
async function groupOf(
  { tx, actor }: { tx: TypedTransaction; actor: Actor },
  entry: KeyEntry,
  { tenantId, before }: { tenantId: string; before: KeyWithNames | undefined },
): Promise<string> {
  const group = await findGroup(tx, entry.group)
  if (group === undefined)
    throw actor.tenantId === null
      ? invalid('group', `there is no group "${entry.group}"`)
      : noKeyIn(entry.group)
  if (actor.tenantId !== null) await requireMemberBounds(tx, { entry, group, tenantId, before })
  return group.id
}

function sortedBy(by: string, { name, expiresAt, use, spend }: ListedKey): string | null {
  if (by === 'name') return name
  if (by === 'spend') return spend?.costNano ?? '0'
  const moments: Record<string, Date | null | undefined> = {
    expires_at: expiresAt,
    last_used_at: use?.lastUsedAt,
    new_network_at: use?.newNetworkAt,
  }
  return moments[by]?.toISOString() ?? null
}
