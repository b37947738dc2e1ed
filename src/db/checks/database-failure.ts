import { type Finding, findingsOf, inShell, messagesIn } from '../../canonical/finding.ts'
import { networkFailure } from '../../canonical/network-failure.ts'
import { codeOf } from '../../canonical/unreachable.ts'

const { wrong } = findingsOf('database')
const docs = 'docs/reference/deployment.md#a-postgres-of-your-own'

/**
 * Explains why no connection could be made, from the error of the server or the system. `name` is the
 * database without its password.
 */
export function connectionFailure(error: unknown, url: string, name: string): Finding {
  const { hostname, port, pathname, username } = new URL(url)
  const [user, database] = [decodeURIComponent(username), decodeURIComponent(pathname.slice(1))]
  const code = codeOf(error)
  const words = messagesIn(error)
  // A pg_hba.conf line with `reject` applies to TLS connections too.
  const needsTls = code === '28000' && /no encryption|SSL off/i.test(words) && !/rejects/.test(words)
  if (needsTls)
    return wrong('database.tls', `${name} accepts only connections with TLS`, {
      why: words,
      fix: 'Append ?sslmode=require to DATABASE_URL. If that is rejected too, pg_hba.conf has no line for this machine.',
      docs,
    })
  // This is not about the password, which Postgres has not requested yet.
  if (code === '28000' && /pg_hba\.conf/.test(words))
    return wrong('database.pg_hba', `${name}: Postgres does not accept connections from this machine`, {
      why: `${words} (${code}).`,
      fix: `In the server's pg_hba.conf, above the line that rejects it, add: host ${database} ${user} ADDRESS/32 scram-sha-256. Then, as a superuser there:`,
      run: "psql -c 'SELECT pg_reload_conf()'",
      docs,
    })
  if (code.startsWith('28'))
    return wrong('database.authentication', `${name}: Postgres rejects the user or the password`, {
      why: `${words} (${code}).`,
      fix: 'Correct DATABASE_URL, or set the password by running this as a superuser:',
      run: `psql -c ${inShell(`\\password "${user}"`)}`,
      docs,
    })
  if (code === '3D000')
    return wrong('database.missing', `${name}: the database does not exist on the server`, {
      why: `${words} (${code}).`,
      run: `createdb -h ${hostname} -p ${port || 5432} -O ${inShell(user)} ${inShell(database)}`,
      docs,
    })
  if (code === '53300')
    return wrong('database.full', `${name}: Postgres accepts no more connections`, {
      why: `${words} (${code}).`,
      fix: 'Raise max_connections, or find out who holds the connections:',
      run: `psql "$DATABASE_URL" -c 'SELECT application_name, count(*) FROM pg_stat_activity GROUP BY 1'`,
      docs: 'docs/reference/configuration.md#connections-to-postgres',
    })
  if (code === '57P03')
    return wrong('database.starting', `${name}: Postgres is starting or shutting down`, {
      why: `${words} (${code}).`,
      fix: 'Wait, and check the Postgres log.',
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
