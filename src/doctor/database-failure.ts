import { codeOf } from '../canonical/unreachable.ts'
import { type Finding, findingsOf, inShell, messagesIn } from './finding.ts'
import { networkFailure } from './network-failure.ts'

const { wrong } = findingsOf('database')
const docs = 'docs/reference/deployment.md#a-postgres-of-your-own'

/**
 * Why no connection could be made, by what the server or the system says. `name` is the database without its
 * password.
 */
export function connectionFailure(error: unknown, url: string, name: string): Finding {
  const { hostname, port, pathname, username } = new URL(url)
  const [user, database] = [decodeURIComponent(username), decodeURIComponent(pathname.slice(1))]
  const code = codeOf(error)
  const words = messagesIn(error)
  // A line that rejects us does so with TLS too.
  const needsTls = code === '28000' && /no encryption|SSL off/i.test(words) && !/rejects/.test(words)
  if (needsTls)
    return wrong('database.tls', `${name} takes connections with TLS only`, {
      why: words,
      fix: 'Put ?sslmode=require at the end of DATABASE_URL. If that is refused too, pg_hba.conf has no line for this machine.',
      docs,
    })
  // Not the password: Postgres has not asked for it yet.
  if (code === '28000' && /pg_hba\.conf/.test(words))
    return wrong('database.pg_hba', `${name}: Postgres does not let this machine in`, {
      why: `${words} (${code}).`,
      fix: `In pg_hba.conf of the server, above what rejects it, add: host ${database} ${user} ADDRESS/32 scram-sha-256. Then, as a superuser there:`,
      run: "psql -c 'SELECT pg_reload_conf()'",
      docs,
    })
  if (code.startsWith('28'))
    return wrong('database.authentication', `${name}: Postgres refuses the user or the password`, {
      why: `${words} (${code}).`,
      fix: 'Correct DATABASE_URL, or set the password as a superuser:',
      run: `psql -c ${inShell(`\\password "${user}"`)}`,
      docs,
    })
  if (code === '3D000')
    return wrong('database.missing', `${name}: the server has no such database`, {
      why: `${words} (${code}).`,
      run: `createdb -h ${hostname} -p ${port || 5432} -O ${inShell(user)} ${inShell(database)}`,
      docs,
    })
  if (code === '53300')
    return wrong('database.full', `${name}: Postgres takes no more connections`, {
      why: `${words} (${code}).`,
      fix: 'Raise max_connections, or see who has them:',
      run: `psql "$DATABASE_URL" -c 'SELECT application_name, count(*) FROM pg_stat_activity GROUP BY 1'`,
      docs: 'docs/reference/configuration.md#connections-to-postgres',
    })
  if (code === '57P03')
    return wrong('database.starting', `${name}: Postgres is starting or shutting down`, {
      why: `${words} (${code}).`,
      fix: 'Wait, and look into the log of Postgres.',
      docs: 'docs/runbook.md#it-does-not-start',
    })
  const failure = networkFailure(error, `${hostname}:${port || 5432}`)
  if (failure !== undefined) {
    const { kind, ...advice } = failure
    return wrong(`database.${kind}`, `${name} cannot be reached`, { ...advice, docs })
  }
  return wrong('database.unusable', `${name} cannot be used`, {
    why: `${words}${code === '' ? '' : ` (${code})`}.`,
    run: 'psql "$DATABASE_URL" -c "SELECT 1"',
    docs,
  })
}
