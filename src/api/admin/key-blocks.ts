import { z } from 'zod'
import { blockKey, unblockKey } from '../../access/key-block-queries.ts'
import { type AdminChange, type AdminEndpoint, adminChange } from './endpoint.ts'
import { etagOf } from './etag.ts'
import { keyJson, keyShown } from './key-json.ts'
import { findKey, type KeyWithNames } from './key-queries.ts'
import { type AdminKeysContext, keyLine, keyParams, lockOwnKey } from './keys.ts'
import { conflict, notAllowed } from './refusals.ts'

const reasonCharactersMax = 1_000
/** Why a person blocks a key or a channel. */
export const blockReason = z
  .string()
  .trim()
  .min(1)
  .max(reasonCharactersMax)
  .describe('Why, for people. Clients never see it.')
/** An import or a file that is being applied may hold the rows. */
export const blockWithinMs = 30_000

/**
 * Endpoints to block a key, also one of gateway.yaml, and to lift the block. All processes follow within a
 * second.
 */
export function keyBlocksEndpoints(context: AdminKeysContext): AdminEndpoint[] {
  return [
    adminChange({
      method: 'POST',
      path: '/admin/v1/keys/{id}/block',
      area: 'keys',
      tenants: 'own',
      ifMatch: 'key',
      withinMs: blockWithinMs,
      summary: 'Block a key and its sub-keys',
      description:
        'Also blocks a key that gateway.yaml manages: neither the file nor an import lifts the block, also where they remove the key, or give its secret to a key of another name. Running requests can finish. A key that is blocked already keeps its reason.',
      params: keyParams,
      body: z.strictObject({ reason: blockReason }).meta({ id: 'KeyBlock' }),
      answer: keyShown,
      change: async (call) =>
        await changeBlock(context, call, 'key.block', async (row) => {
          const { name: by, tenantId } = call.actor
          await blockKey(call.tx, row, { reason: call.body.reason, by, isMember: tenantId !== null })
        }),
    }),
    adminChange({
      method: 'POST',
      path: '/admin/v1/keys/{id}/unblock',
      area: 'keys',
      tenants: 'own',
      ifMatch: 'key',
      withinMs: blockWithinMs,
      summary: 'Lift the block of a key',
      description:
        'A sub-key stays blocked as long as its parent key is. A member can lift only a block that a member of the tenant set.',
      params: keyParams,
      answer: keyShown,
      change: async (call) =>
        await changeBlock(context, call, 'key.unblock', async (row) => {
          if (row.block === null && row.parentBlock !== null)
            throw conflict(`The key "${row.name}" is blocked because its parent key is. Unblock that key.`)
          if (call.actor.tenantId !== null && row.block?.blockedByMember === false)
            throw notAllowed(`The key "${row.name}" was blocked by an admin. Ask an admin to unblock it.`)
          await unblockKey(call.tx, row.id)
        }),
    }),
  ]
}

async function changeBlock(
  context: AdminKeysContext,
  { tx, actor, params, requireMatch, audit }: AdminChange & { params: z.output<typeof keyParams> },
  action: string,
  change: (row: KeyWithNames) => Promise<void>,
) {
  const before = await lockOwnKey(context, { tx, actor, requireMatch, ofFile: true }, params.id)
  await change(before)
  const changed = await findKey(tx, params.id)
  if (changed === undefined) throw new Error('a locked key is gone')
  const after = keyJson(changed)
  await audit({ ...keyLine(changed, action), before: keyJson(before), after })
  return { body: after, etag: etagOf(after) }
}
