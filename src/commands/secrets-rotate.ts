import type { Sql } from 'postgres'
import type { SecretKeys } from '../secrets/open-masters.ts'
import type { Resealed } from '../secrets/reseal.ts'
import { command } from './command.ts'
import { opening, withDatabase } from './command-database.ts'
import { secretKeysOf } from './command-secrets.ts'
import { CommandError, exitCodes } from './exit-codes.ts'
import { flag, json } from './options.ts'
import type { Terminal } from './terminal.ts'

export const secretsRotate = command({
  name: 'secrets rotate',
  group: 'Repair',
  does: 'finish a rotation of SECRET_KEY, so that only the current one opens the master keys',
  details:
    'It refuses to run while a process uses another SECRET_KEY (exit code 1). docs/reference/secrets.md describes the whole procedure.',
  changes: true,
  options: {
    newMaster: flag('create a new master key, seal all secrets with it, and print what has to be renewed'),
    json,
  },
  arguments: {},
  async run({ options: { newMaster, json }, terminal, env }) {
    const { prepareKeeper } = await import('../secrets/open-masters.ts')
    return await withDatabase(
      'secrets rotate',
      { env, terminal },
      async ({ config, connections: { sql } }) => {
        const keys = secretKeysOf(config)
        await opening(() => prepareKeeper(sql, keys))
        const work = newMaster ? changeMaster : dropOthers
        const done = await work(sql, keys, terminal)
        if (json) terminal.printJson(done.json)
        else for (const line of done.lines) terminal.print(line)
        return exitCodes.done
      },
    )
  },
})

/** The result, as JSON and as text. */
interface Done {
  json: object
  lines: readonly string[]
}

async function changeMaster(sql: Sql, keys: SecretKeys, terminal: Terminal): Promise<Done> {
  const [{ changeMaster }, { readRenewals, renewalsText }] = await Promise.all([
    import('../secrets/new-master.ts'),
    import('../secrets/renewals.ts'),
  ])
  const id = await terminal
    .during('waiting for every process to follow', () => changeMaster(sql, keys, followMs))
    .catch((error: unknown) => {
      // Errors from Postgres have a code.
      if (!(error instanceof Error) || 'code' in error) throw error
      throw new CommandError(
        exitCodes.notWell,
        `${error.message}\nRun this again to continue where it stopped.`,
      )
    })
  const sealed = await sealAnew(sql, keys, terminal)
  const renewals = await readRenewals(sql)
  const { channels, chosenKeys, webhookTenants, secondFactors } = renewals
  return {
    json: {
      master_key: id,
      sealed_anew: sealed,
      renewals: {
        channels,
        chosen_keys: chosenKeys,
        webhook_tenants: webhookTenants,
        second_factors: secondFactors,
      },
    },
    lines: [
      `New master key ${id}: all processes now seal with it`,
      ...sealed.flatMap(linesOf),
      renewalsText(renewals),
    ],
  }
}

async function dropOthers(sql: Sql, keys: SecretKeys, terminal: Terminal): Promise<Done> {
  const [{ idOfSecret }, { dropOtherWrappings, liveProcesses }, { processName }] = await Promise.all([
    import('../secrets/secret-key.ts'),
    import('../secrets/master-key-queries.ts'),
    import('../secrets/new-master.ts'),
  ])
  // A run with --new-master may have been interrupted.
  const sealed = await sealAnew(sql, keys, terminal)
  const secretKeyId = idOfSecret(keys.secretKey)
  const others = (await liveProcesses(sql)).filter(
    (process) => process.secretKeyId !== null && process.secretKeyId !== secretKeyId,
  )
  if (others.length > 0)
    throw new CommandError(
      exitCodes.notWell,
      `these processes use a SECRET_KEY other than ${secretKeyId}. Restart them first:\n${others.map(processName).join('\n')}`,
    )
  const dropped = await dropOtherWrappings(sql, secretKeyId)
  const but = dropped.length === 0 ? '' : `, no longer by ${dropped.join(', ')}`
  return {
    json: { secret_key: secretKeyId, dropped, sealed_anew: sealed },
    lines: [
      ...sealed.flatMap(linesOf),
      `The master keys are now wrapped only by SECRET_KEY ${secretKeyId}${but}`,
    ],
  }
}

async function sealAnew(sql: Sql, keys: SecretKeys, terminal: Terminal): Promise<Resealed[]> {
  const [{ readKeeper }, { resealAll }] = await Promise.all([
    import('../secrets/open-masters.ts'),
    import('../secrets/reseal.ts'),
  ])
  const keeper = await readKeeper(sql, keys)
  return await terminal.during('resealing all secrets', () => resealAll(sql, keeper))
}

function linesOf({ name, resealed, unreadable }: Resealed): string[] {
  return [
    ...(resealed > 0 ? [`  ${name}: ${resealed} resealed`] : []),
    ...(unreadable > 0
      ? [`  ${name}: ${unreadable} cannot be opened with any master key, and were left as they are`]
      : []),
  ]
}

/**
 * How long to wait for the processes. A process follows within a second; one that has died is counted for 20
 * seconds.
 */
const followMs = 30_000
