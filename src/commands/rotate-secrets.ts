import { parseArgs } from 'node:util'
import type { Sql } from 'postgres'
import { configFromEnvironment } from '../config.ts'
import { idOfSecret } from '../secret-key.ts'
import { dropOtherWrappings, liveProcesses } from '../secrets/master-key-queries.ts'
import { changeMaster, nameOf } from '../secrets/new-master.ts'
import { prepareKeeper, readKeeper, type SecretKeys } from '../secrets/open-masters.ts'
import { readRenewals, renewalsText } from '../secrets/renewals.ts'
import { resealAll } from '../secrets/reseal.ts'
import { openCommandDatabase, secretKeysOf } from './command-database.ts'

/**
 * `npm run secrets:rotate` ends the rotation of SECRET_KEY: from then on only the present one opens the master keys.
 * `npm run secrets:rotate -- --new-master` makes a new master key, seals all secrets with it, and prints what has to be renewed.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { 'new-master': { type: 'boolean', default: false } } })
  const { config } = configFromEnvironment()
  const keys = secretKeysOf(config)
  const database = await openCommandDatabase(config, 'secrets')
  try {
    const { sql } = database.connections
    await database.whenReachable(() => prepareKeeper(sql, keys))
    if (values['new-master']) {
      console.log(`New master key ${await changeMaster(sql, keys, followMs)}: all processes seal with it`)
      await sealAnew(sql, keys)
      console.log(renewalsText(await readRenewals(sql)))
      return
    }
    // Where a call with --new-master was interrupted.
    await sealAnew(sql, keys)
    const secretKeyId = idOfSecret(keys.secretKey)
    const others = (await liveProcesses(sql)).filter(
      (process) => process.secretKeyId !== null && process.secretKeyId !== secretKeyId,
    )
    if (others.length > 0) {
      throw new Error(
        `these processes run with another SECRET_KEY than ${secretKeyId}. Restart them first:\n${others.map(nameOf).join('\n')}`,
      )
    }
    const dropped = await dropOtherWrappings(sql, secretKeyId)
    console.log(
      dropped.length === 0
        ? `The master keys are wrapped by SECRET_KEY ${secretKeyId} only`
        : `The master keys are wrapped by SECRET_KEY ${secretKeyId} only; no longer by ${dropped.join(', ')}`,
    )
  } finally {
    await database.close()
  }
}

async function sealAnew(sql: Sql, keys: SecretKeys): Promise<void> {
  for (const { name, resealed, unreadable } of await resealAll(sql, await readKeeper(sql, keys))) {
    if (resealed > 0) console.log(`  ${name}: ${resealed} sealed anew`)
    if (unreadable > 0)
      console.log(`  ${name}: ${unreadable} cannot be opened with any master key, and stay as they are`)
  }
}

/** A process follows within a second. One that has died counts for 20 seconds. */
const followMs = 30_000

main().catch((error: unknown) => {
  console.error(`The secrets are not rotated: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(1)
})
