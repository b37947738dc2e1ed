import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Config, readConfig, variableNames, wrongVariables } from '../config.ts'
import { type Finding, findingsOf } from './finding.ts'

const { well, warning, wrong } = findingsOf('configuration')

type Environment = Readonly<Record<string, string | undefined>>

/**
 * What is wrong with the variables, and the configuration without the wrong ones, so that the other checks
 * can go on. Undefined: it cannot be had.
 */
export function checkConfiguration(env: Environment): { findings: Finding[]; config: Config | undefined } {
  const faults = wrongVariables(env)
  const config = configWithout(env, new Set(faults.map(({ name }) => name)))
  const findings = [
    ...faults.map(({ name, message }) =>
      wrong('configuration.value', `${name} ${message}`, {
        why: 'The gateway does not start with it.',
        fix: `Correct ${name} in the environment of the gateway, or unset it to have its default.`,
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
      ? 'no variable is set: all have their defaults'
      : `${names.length} variables are set, and each is right`
  return { findings: [well('configuration.values', set)], config }
}

/** Those that belong together fall together: TLS_CERT and TLS_KEY, or all of OIDC. */
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
      why: `It opens the secrets in the database.${generated ? ' DATA_DIR/secret.key counts only for the embedded Postgres.' : ''}`,
      fix: 'Set the one of the other processes. For a new database make one:',
      run: 'openssl rand -hex 32',
      docs: 'docs/reference/secrets.md#secrets',
    }),
  ]
}

/** Names that nothing reads, and that look like ones of ours. */
function unknownVariables(env: Environment): Finding[] {
  const known = new Set(variableNames())
  return Object.keys(env).flatMap((name) => {
    if (known.has(name) || others.has(name) || !env[name] || isServiceLink(name, env[name])) return []
    const meant = nearest(name, known)
    if (meant === undefined) return []
    const fault = `${name} is not a variable of Tollgate; ${meant} is`
    return [
      warning('configuration.unknown', fault, {
        why: env[meant]
          ? `${meant} is set too, and counts.`
          : `Nothing reads ${name}, and ${meant} has its default.`,
        fix: `Name it ${meant}, or unset it.`,
        docs: 'docs/reference/configuration.md#environment',
      }),
    ]
  })
}

/** Common variables of others that are one letter away from ours, and those of the command. */
const others = new Set(['PAGER', 'HOSTNAME', 'LOGNAME', 'TOLLGATE_URL', 'TOLLGATE_TOKEN', 'TOLLGATE_KEY'])

/** Kubernetes sets `TOLLGATE_PORT=tcp://...` for a service of that name. */
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

/** Letters to change, add or remove, or neighbours to swap; more than `most` is some larger number. */
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
