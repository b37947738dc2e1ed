import type { FileLine, FileOutcome } from '../access/apply-gateway-file.ts'
import type { GatewaySource } from '../catalog/gateway-source.ts'
import { isAnswer, isPassing, isUnknownName, reasonOf } from '../db/failures.ts'
import { command } from './command.ts'
import {
  type CommandDatabase,
  commandConfig,
  messageWithCauses,
  opening,
  withDatabase,
} from './command-database.ts'
import { secretKeysOf } from './command-secrets.ts'
import { CommandError, exitCodes, wrongUsage } from './exit-codes.ts'
import { flag, json, required } from './options.ts'
import { type Look, paint, plain, type Terminal } from './terminal.ts'

export const apply = command({
  name: 'apply',
  group: 'Set up',
  does: 'show what a gateway.yaml would change in the database, and apply it',
  details:
    'It writes only with --yes or after you confirm on a terminal. Running gateways follow within a second. A gateway with its own GATEWAY_CONFIG applies that file again when it starts and when the file changes; the file with the higher `revision` is in force. Exit code 1: there are changes that were not applied.',
  changes: true,
  options: { yes: flag('apply the changes without asking'), json },
  arguments: { file: required('FILE', 'a gateway.yaml', { completes: 'files' }) },
  async run({ options, arguments: { file }, terminal, env, signal }) {
    const { readGatewaySource } = await import('../catalog/gateway-source.ts')
    const { bounds } = await commandConfig(env)
    const source = checking(() => {
      const read = readGatewaySource(file, env, bounds)
      read.parse()
      return read
    })
    return await withDatabase('apply', { env, terminal }, (database) =>
      planAndApply(database, source, { ...options, terminal, signal }),
    )
  },
})

interface Asked {
  yes: boolean
  json: boolean
  terminal: Terminal
  signal: AbortSignal
}

async function planAndApply(
  { config, connections }: CommandDatabase,
  source: GatewaySource,
  { yes, json, terminal, signal }: Asked,
): Promise<number> {
  const [{ applyGatewayFile, planGatewayFile }, { PlanChangedError }, { prepareKeeper, readKeeper }] =
    await Promise.all([
      import('../access/apply-gateway-file.ts'),
      import('../catalog/file-changes.ts'),
      import('../secrets/open-masters.ts'),
    ])
  const keys = secretKeysOf(config)
  const keeper = await opening(() => readKeeper(connections.sql, keys))
  const plan = await terminal
    .during('comparing', () => planGatewayFile(connections, source, keeper))
    .catch(fileError)
  const { outcome } = plan
  const lines = plan.lines.map(named)
  if (!json) printPlan(outcome, lines, terminal)
  const isDone = outcome.kind === 'unchanged'
  const mayWrite = outcome.kind === 'applied'
  const applies = mayWrite && (yes || (!json && (await terminal.agrees('Apply these changes?', signal))))
  const applied = applies
    ? await terminal
        .during('applying', async () =>
          applyGatewayFile(
            connections,
            source,
            await prepareKeeper(connections.sql, keys),
            yes || outcome.kind !== 'applied' ? undefined : outcome.changes,
          ),
        )
        .catch((error: unknown) => {
          if (!(error instanceof PlanChangedError)) return fileError(error)
          throw new CommandError(exitCodes.notWell, `${error.message}. Run this again.`)
        })
    : undefined
  if (applied !== undefined && applied.kind !== 'applied')
    throw new CommandError(
      exitCodes.notWell,
      'nothing was applied, because another file came into force in the meantime. Run this again.',
    )
  const generated = applied?.kind === 'applied' ? applied.generated : []
  if (json)
    terminal.printJson({
      outcome: applies || !mayWrite ? outcome.kind : 'planned',
      revision: outcome.revision ?? null,
      rows: lines.map(({ takenOver, ...line }) => ({ ...line, taken_over: takenOver })),
      generated_keys: generated,
    })
  else
    for (const { tenant, key, secret } of generated)
      terminal.print(`New secret of key "${key}" of ${tenant}, shown only once: ${secret}`)
  if (applies) terminal.tell('Applied. Running gateways follow within a second.')
  else if (mayWrite) terminal.tell('Nothing was applied. Add --yes to apply the changes.')
  return applies || isDone ? exitCodes.done : exitCodes.notWell
}

/**
 * Converts the members to their names in gateway.yaml and leaves out the manager, which is reported
 * separately.
 */
function named({ members, ...line }: FileLine): FileLine {
  const others = members.filter((member) => member !== 'managedBy')
  return {
    ...line,
    members: others.map((member) => member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)),
  }
}

const signs = {
  create: { sign: '+', colour: 'green' },
  change: { sign: '~', colour: 'yellow' },
  remove: { sign: '-', colour: 'red' },
} as const

function printPlan(outcome: FileOutcome, lines: readonly FileLine[], terminal: Terminal): void {
  const { look } = terminal
  switch (outcome.kind) {
    case 'unchanged':
      terminal.print('This file is already in force, and no row has changed since.')
      return
    case 'lower': {
      const { path, host, revision } = outcome.inForce
      terminal.print(
        `${path} of ${host} is in force with revision ${revision ?? 'none'}, which is higher than ${outcome.revision ?? 'none'}. Raise \`revision\` in this file.`,
      )
      return
    }
    case 'applied': {
      for (const line of lines) for (const text of lineTexts(line, look)) terminal.print(text)
      const count = (action: FileLine['action']) => lines.filter((line) => line.action === action).length
      terminal.print(
        `${count('create')} to create, ${count('change')} to change, ${count('remove')} to remove`,
      )
      const { replaced } = outcome
      if (replaced !== undefined)
        terminal.tell(
          `It replaces ${replaced.path} of ${replaced.host}, applied ${replaced.appliedAt.toISOString()}.`,
        )
    }
  }
}

/** Returns a line for the row, and one for each of its changed settings. */
function lineTexts({ kind, name, action, members, changes, takenOver }: FileLine, look: Look): string[] {
  const { sign, colour } = signs[action]
  const called = `${kind.slice(0, -1).padEnd(8)}${plain(name)}`
  const head = `${paint(`${sign} ${action.padEnd(7)}`, colour, look)} ${called}`
  // Members that have no name in gateway.yaml are at least listed.
  const details = [changes.length === 0 ? members.join(', ') : '', takenOver ? 'created by an admin' : '']
  const more = details.filter((text) => text !== '').join('; ')
  return [
    more === '' ? head : `${head}  (${more})`,
    ...changes.map(
      ({ name, from, to }) => `            ${plain(name)}: ${valueText(from)} -> ${valueText(to)}`,
    ),
  ]
}

const valueMost = 100

/** Certificates and long lists are shortened; --json prints them in full. */
function valueText(value: unknown): string {
  if (value === null) return 'not set'
  const text = plain(typeof value === 'string' ? value : JSON.stringify(value))
  return text.length > valueMost ? `${text.slice(0, valueMost - 1)}…` : text
}

function checking<Read>(read: () => Read): Read {
  try {
    return read()
  } catch (error) {
    throw wrongUsage(messageWithCauses(error).replace(/^GATEWAY_CONFIG: /, ''), error)
  }
}

/** Errors from Postgres are rethrown as they are, because the file did not cause them. */
function fileError(error: unknown): never {
  const cause = reasonOf(error)
  if (isAnswer(cause) || isPassing(cause) || isUnknownName(cause)) throw error
  throw wrongUsage(`cannot apply the file: ${messageWithCauses(cause)}`, cause)
}
