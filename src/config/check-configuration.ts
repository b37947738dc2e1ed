import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Finding, findingsOf } from '../canonical/finding.ts'
import { type Config, readConfig, variableNames, wrongVariables } from './config.ts'

const { well, warning, wrong } = findingsOf('configuration')

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Returns the findings about the variables, and the configuration without the invalid ones, so that the other
 * checks can continue. The configuration is undefined if it cannot be read even then.
 */
export function checkConfiguration(env: Environment): { findings: Finding[]; config: Config | undefined } {
  const faults = wrongVariables(env)
  const config = configWithout(env, new Set(faults.map(({ name }) => name)))
  const findings = [
    ...faults.map(({ name, message }) =>
      wrong('configuration.value', `${name} ${message}`, {
        why: 'The gateway cannot start with this value.',
        fix: `Correct ${name} in the gateway's environment, or unset it to use the default.`,
        docs: 'docs/reference/configuration.md#environment',
      }),
    ),
    ...missingSecretKey(config),
    ...unknownVariables(env),
  ]
  if (findings.length > 0) return { findings, config }
  const names = variableNames().filter((name) => env[name])
  const set =
    names.length === 0
      ? 'no variables are set; all have their defaults'
      : `${names.length} variables are set, and all are valid`
  return { findings: [well('configuration.values', set)], config }
}

/** If one variable of a family such as TLS_ or OIDC_ is invalid, the whole family is left out. */
function configWithout(env: Environment, faults: ReadonlySet<string>): Config | undefined {
  const families = ['TLS_', 'OIDC_'].filter((family) => [...faults].some((name) => name.startsWith(family)))
  const kept = Object.entries(env).filter(
    ([name]) => !faults.has(name) && !families.some((family) => name.startsWith(family)),
  )
  try {
    return readConfig(Object.fromEntries(kept))
  } catch {
    return undefined
  }
}

function missingSecretKey(config: Config | undefined): Finding[] {
  if (config?.databaseUrl === undefined || config.secretKey !== undefined) return []
  const generated = existsSync(join(resolve(config.dataDir), 'secret.key'))
  return [
    wrong('configuration.secret_key', 'SECRET_KEY must be set when DATABASE_URL is', {
      why: `It decrypts the secrets in the database.${generated ? ' DATA_DIR/secret.key is used only with the embedded Postgres.' : ''}`,
      fix: 'Set the same value as in the other processes. For a new database, create one:',
      run: 'openssl rand -hex 32',
      docs: 'docs/reference/secrets.md#secrets',
    }),
  ]
}

/** Finds variables that nothing reads and whose names resemble ours. */
function unknownVariables(env: Environment): Finding[] {
  const known = new Set(variableNames())
  return Object.keys(env).flatMap((name) => {
    if (known.has(name) || others.has(name) || !env[name] || isServiceLink(name, env[name])) return []
    const meant = nearest(name, known)
    if (meant === undefined) return []
    const fault = `${name} is not a variable of Tollgate, but ${meant} is`
    return [
      warning('configuration.unknown', fault, {
        why: env[meant]
          ? `${meant} is set as well, and is used.`
          : `${name} has no effect, and ${meant} has its default.`,
        fix: `Rename it to ${meant}, or unset it.`,
        docs: 'docs/reference/configuration.md#environment',
      }),
    ]
  })
}

/**
 * Common variables of other programs that differ from ours by one letter, and the variables of our own
 * commands.
 */
const others = new Set(['PAGER', 'HOSTNAME', 'LOGNAME', 'TOLLGATE_URL', 'TOLLGATE_TOKEN', 'TOLLGATE_KEY'])

/** Kubernetes sets `TOLLGATE_PORT=tcp://...` for a service named tollgate. */
function isServiceLink(name: string, value: string): boolean {
  return (
    /^TOLLGATE_(PORT|SERVICE)/.test(name) &&
    (/^tcp:/.test(value) || name.includes('SERVICE') || /_(TCP|UDP)/.test(name))
  )
}

function nearest(name: string, known: ReadonlySet<string>): string | undefined {
  const bare = name.replace(/^TOLLGATE_/, '')
  if (bare !== name && known.has(bare)) return bare
  if (known.has(name.toUpperCase())) return name.toUpperCase()
  const most = name.length >= 10 ? 2 : name.length >= 6 ? 1 : 0
  const near = [...known].map((one) => ({ one, edits: editsBetween(name, one, most) }))
  return near.filter(({ edits }) => edits <= most).sort((a, b) => a.edits - b.edits)[0]?.one
}

/** Counts the letters to change, add, remove or swap with a neighbour. Any result above `most` is inexact. */
function editsBetween(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? most) + 1 : most + 1
      row.push(Math.min(change, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, swap))
    }
    before = last
    last = row
  }
  return last[b.length] ?? most + 1
}
