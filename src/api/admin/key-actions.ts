import { z } from 'zod'
import { carryBlocks } from '../../access/key-block-queries.ts'
import { keyHint, makeKeySecret } from '../../access/key-secret.ts'
import { integer } from '../../canonical/checked.ts'
import { type AdminEndpoint, adminChange } from './endpoint.ts'
import { etagOf } from './etag.ts'
import { keyJson, keyShown, madeKey } from './key-json.ts'
import { changeKey } from './key-queries.ts'
import { type AdminKeysContext, isRevoked, keyLine, keyParams, lockOwnKey } from './keys.ts'
import { conflict } from './refusals.ts'

const graceSecondsMax = 30 * 24 * 3600

/** Endpoints to rotate and revoke keys. All processes follow within a second. */
export function keyActionsEndpoints(context: AdminKeysContext): AdminEndpoint[] {
  return [
    adminChange({
      method: 'POST',
      path: '/admin/v1/keys/{id}/rotate',
      area: 'keys',
      ifMatch: 'key',
      tenants: 'own',
      summary: 'Rotate the secret of a key',
      description:
        'The response contains the new secret, which is not shown again. The previous secret keeps working for `grace_seconds`. During that time another rotation requires `grace_seconds` 0, which ends both earlier secrets.',
      params: keyParams,
      body: z
        .strictObject({
          grace_seconds: integer(0, graceSecondsMax)
            .default(0)
            .describe('How long the previous secret keeps working, in seconds.'),
        })
        .meta({ id: 'KeyRotation' }),
      answer: madeKey,
      async change({ tx, actor, params: { id }, body, requireMatch, audit }) {
        const row = await lockOwnKey(context, { tx, actor, requireMatch }, id)
        if (row.revokedAt !== null) throw isRevoked(row)
        const graceMs = body.grace_seconds * 1000
        const { formerSecretUntil } = row
        if (graceMs > 0 && formerSecretUntil !== null && formerSecretUntil.getTime() > Date.now())
          throw conflict(
            `The previous secret of key "${row.name}" works until ${formerSecretUntil.toISOString()}. Wait until then, or send grace_seconds 0 to end it now.`,
            'grace_seconds',
          )
        const secret = makeKeySecret()
        const secretHash = context.keys.hashOf(secret)
        const changed = await changeKey(tx, id, {
          secretHash,
          hint: keyHint(secret),
          formerSecretHash: graceMs > 0 ? row.secretHash : null,
          formerSecretUntil: graceMs > 0 ? new Date(Date.now() + graceMs) : null,
        })
        await carryBlocks(tx, [{ keyId: id, hashes: [secretHash] }])
        const shown = keyJson(changed)
        await audit({ ...keyLine(changed, 'key.rotate'), before: keyJson(row), after: shown })
        return { body: { ...shown, secret }, etag: etagOf(shown) }
      },
    }),
    adminChange({
      method: 'POST',
      path: '/admin/v1/keys/{id}/revoke',
      area: 'keys',
      ifMatch: 'key',
      tenants: 'own',
      summary: 'Revoke a key permanently',
      description:
        'The key is refused from then on, but stays in the usage log. Set `disabled` to refuse a key temporarily.',
      params: keyParams,
      answer: keyShown,
      async change({ tx, actor, params: { id }, requireMatch, audit }) {
        const row = await lockOwnKey(context, { tx, actor, requireMatch }, id)
        const now = new Date()
        const changed = await changeKey(tx, id, {
          revokedAt: row.revokedAt ?? now,
          disabledAt: row.disabledAt ?? now,
          formerSecretHash: null,
          formerSecretUntil: null,
        })
        const after = keyJson(changed)
        await audit({ ...keyLine(changed, 'key.revoke'), before: keyJson(row), after })
        return { body: after, etag: etagOf(after) }
      },
    }),
  ]
}
