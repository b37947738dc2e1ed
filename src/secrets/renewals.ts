import type { Sql } from 'postgres'

/** The secrets that a leaked master key exposes, and their owners. */
export interface Renewals {
  /** Channels with credentials, all of which can be decrypted with a leaked master key. */
  channels: string[]
  /** Keys that we did not generate. With a leaked pepper they can be guessed from their hashes. */
  chosenKeys: { tenant: string; key: string }[]
  /**
   * The number of keys that, judging by their form, we generated. Their 238 random bits cannot be guessed.
   */
  generatedKeys: number
  /** Tenants that have image jobs with webhooks. */
  webhookTenants: string[]
  /** E-mail addresses of users with a second factor, whose codes can be computed with a leaked master key. */
  secondFactors: string[]
}

/** Reads at most 1000 names of each kind. */
export async function readRenewals(sql: Sql): Promise<Renewals> {
  const [channels, chosenKeys, [count], tenants, users] = [
    await sql<{ name: string }[]>`
      SELECT name FROM channels c WHERE disabled_at IS NULL
        AND (connection_sealed IS NOT NULL OR EXISTS (SELECT FROM channel_credentials WHERE channel_id = c.id))
      ORDER BY name LIMIT 1000`,
    await sql<{ tenant: string; key: string }[]>`
      SELECT t.name AS tenant, k.name AS key FROM keys k JOIN tenants t ON t.id = k.tenant_id
      WHERE k.disabled_at IS NULL AND k.hint !~ ${generatedHint} ORDER BY 1, 2 LIMIT 1000`,
    await sql<{ keys: number }[]>`
      SELECT count(*)::integer AS keys FROM keys WHERE disabled_at IS NULL AND hint ~ ${generatedHint}`,
    await sql<{ name: string }[]>`
      SELECT DISTINCT t.name FROM jobs j JOIN tenants t ON t.id = j.tenant_id
      WHERE j.webhook_url IS NOT NULL OR j.webhook_state IS NOT NULL ORDER BY 1 LIMIT 1000`,
    await sql<{ email: string }[]>`
      SELECT email FROM users WHERE totp_secret IS NOT NULL ORDER BY 1 LIMIT 1000`,
  ]
  return {
    channels: channels.map(({ name }) => name),
    chosenKeys: [...chosenKeys],
    generatedKeys: count?.keys ?? 0,
    webhookTenants: tenants.map(({ name }) => name),
    secondFactors: users.map(({ email }) => email),
  }
}

/** The hint of a generated key; see access/key-secret.ts. */
const generatedHint = '^tg-[0-9A-Za-z]{4}…$'

export function renewalsText({
  channels,
  chosenKeys,
  generatedKeys,
  webhookTenants,
  secondFactors,
}: Renewals): string {
  const list = (names: readonly string[]) =>
    names.length === 0 ? ['  (none)'] : names.map((name) => `  ${name}`)
  return [
    'Anyone with the old master key and a copy of the database could read or forge these. Renew them:',
    'Channel credentials (renew them at the vendors):',
    ...list(channels),
    'Client keys that were not generated (they can be guessed from their hashes once the pepper is known):',
    ...list(chosenKeys.map(({ tenant, key }) => `${key} of tenant ${tenant}`)),
    `Generated client keys, which need no renewal: ${generatedKeys}`,
    'Webhook secrets (tenants read the new ones at GET /v1/images/webhook-secret):',
    ...list(webhookTenants),
    'Second factors (users must remove them and set them up again):',
    ...list(secondFactors),
    'These need no action:',
    '  image links: links signed with the old key work until they expire; a job returns new ones',
    '  reasoning envelopes: those of the old key are still accepted; new ones are signed with the new key',
    '  image jobs and kept answers: resealed, but they can be read in earlier copies of the database',
  ].join('\n')
}
