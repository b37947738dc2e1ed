import { ownLayout } from '../../src/journal/layout.ts'
import { rowAt } from '../../src/journal/read-tuples.ts'
import { copyHeader, uuidText } from '../../src/journal/tuple.ts'
import { type Answer, Blocked, refusal, type Statement, type Store, type StoredInstance } from './store.ts'

const none: Answer = { rows: [], rowCount: 0 }
const rowsOf = (rows: Record<string, unknown>[]): Answer => ({ rows, rowCount: rows.length })
const word = (value: unknown): string => String(value)
const list = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

/** What each statement of the shipper does, by its beginning. */
export const statements: readonly Statement[] = [
  { start: 'LISTEN', isFree: true, run: () => none },
  {
    start: 'BEGIN',
    isFree: true,
    run: (store, session) => {
      store.begin(session)
      return none
    },
  },
  {
    start: 'COMMIT',
    isFree: true,
    run: (store, session) => {
      store.commit(session)
      return none
    },
  },
  {
    start: 'SAVEPOINT',
    isFree: true,
    run: (_store, session) => {
      session.savepoint = session.transaction?.length ?? 0
      return none
    },
  },
  { start: 'RELEASE SAVEPOINT', isFree: true, run: () => none },
  {
    start: 'ROLLBACK TO SAVEPOINT',
    isFree: true,
    run: (store, session) => {
      store.rollBackTo(session, session.savepoint)
      return none
    },
  },
  {
    start: 'ROLLBACK',
    isFree: true,
    run: (store, session) => {
      store.rollBack(session)
      return none
    },
  },
  {
    start: 'SET',
    isFree: true,
    run: (_store, session, _values, text) => {
      const [, amount = '0', unit] = /lock_timeout = '(\d+)(s|ms)'/.exec(text) ?? []
      session.lockTimeoutMs = Number(amount) * (unit === 's' ? 1000 : 1)
      session.hasLocalTimeout = text.startsWith('SET LOCAL')
      return none
    },
  },
  {
    start: 'RESET lock_timeout',
    isFree: true,
    run: (_store, session) => {
      session.lockTimeoutMs = 0
      return none
    },
  },
  {
    start: "SELECT set_config('application_name'",
    isFree: true,
    run: (_store, session, [name]) => {
      session.name = word(name)
      return none
    },
  },
  {
    start: 'SELECT pid, backend_start',
    isFree: true,
    run: (_store, session) => rowsOf([{ pid: session.pid, startedAt: word(session.pid) }]),
  },
  {
    start: 'SELECT pg_terminate_backend(pid, $3)',
    isFree: true,
    run: (store, _session, [pid]) => {
      const ended = store.sessionsOf((other) => other.pid === pid)
      for (const other of ended) store.end(other)
      return rowsOf(ended.map(() => ({ gone: true })))
    },
  },
  {
    start: 'SELECT pg_terminate_backend(pid) FROM',
    isFree: true,
    run: (store, session, [name]) => {
      for (const other of store.sessionsOf((one) => one.name === name && one !== session)) store.end(other)
      return none
    },
  },
  {
    start: 'SELECT pg_try_advisory_lock(',
    isFree: true,
    run: (store, session, [instance]) => rowsOf([{ ok: store.tryLock(session, word(instance)) }]),
  },
  {
    start: 'SELECT pg_try_advisory_xact_lock(',
    isFree: true,
    run: (store, session, [instance]) => {
      const ok = store.tryLock(session, word(instance))
      if (ok) session.transactionLocks.push(word(instance))
      return rowsOf([{ ok }])
    },
  },
  {
    start: 'SELECT pg_advisory_lock(',
    isFree: true,
    run: (store, session, [instance]) => {
      if (!store.tryLock(session, word(instance))) throw new Blocked()
      return none
    },
  },
  {
    start: 'SELECT pg_advisory_unlock(',
    isFree: true,
    run: (store, session, [instance]) => {
      store.unlock(session, word(instance))
      return none
    },
  },
  {
    start: 'INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state, open_columns)',
    run: (store, _session, [id, , , columns]) => insertInstance(store, word(id), columns !== null),
  },
  {
    start: 'INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state) SELECT',
    run: (store, _session, [ids]) => {
      for (const id of list(ids)) insertInstance(store, id, false)
      return none
    },
  },
  {
    start: 'UPDATE instances SET heartbeat_at = now(), host',
    run: (store, _session, [id, , , columns]) => {
      const found = store.instances.get(word(id))
      const isRenewed = found?.state === 'live' || (found?.state === 'lost' && !found.keepsOpen)
      if (!isRenewed) return none
      const renewed = { state: 'live', heartbeatAt: store.now, keepsOpen: columns !== null }
      store.set(store.instances, word(id), renewed)
      return { rows: [], rowCount: 1 }
    },
  },
  {
    start: 'UPDATE instances SET heartbeat_at = now() WHERE id',
    run: (store, _session, [id]) => update(store, word(id), () => true, { heartbeatAt: store.now }),
  },
  {
    start: 'UPDATE instances SET state = $2 WHERE id',
    run: (store, _session, [id, state]) => update(store, word(id), () => true, { state: word(state) }),
  },
  {
    start: "UPDATE instances SET state = 'lost' WHERE id",
    run: (store, _session, [id, seconds]) =>
      update(store, word(id), (one) => one.state === 'live' && isSilent(store, one, seconds), {
        state: 'lost',
      }),
  },
  {
    start: "UPDATE instances SET state = 'adopted' WHERE id",
    run: (store, _session, [id]) =>
      update(store, word(id), ({ state }) => state === 'lost', { state: 'adopted' }),
  },
  {
    start: 'SELECT state FROM instances',
    isRead: true,
    run: (store, _session, [id]) => {
      const found = store.instances.get(word(id))
      return rowsOf(found === undefined ? [] : [{ state: found.state }])
    },
  },
  {
    start: 'SELECT id, state, heartbeat_at <',
    isRead: true,
    run: (store, _session, [ids, seconds]) =>
      rowsOf(
        list(ids).flatMap((id) => {
          const found = store.instances.get(id)
          if (found === undefined) return []
          return [{ id, state: found.state, isSilent: isSilent(store, found, seconds) }]
        }),
      ),
  },
  {
    start: 'SELECT FROM instances WHERE id = $1 AND (state',
    run: (store, _session, [id, seconds]) => {
      const found = store.instances.get(word(id))
      const isDead = found !== undefined && (found.state !== 'live' || isSilent(store, found, seconds))
      return { rows: [], rowCount: isDead ? 1 : 0 }
    },
  },
  {
    start: 'SELECT id, open_columns AS columns FROM instances',
    isRead: true,
    run: (store, _session, [caller, seconds]) =>
      rowsOf(
        [...store.instances].flatMap(([id, one]) => {
          const isLost =
            one.state === 'live' && one.keepsOpen && id !== caller && isSilent(store, one, seconds)
          return isLost ? [{ id, columns: ownLayout.open }] : []
        }),
      ),
  },
  {
    start: 'SELECT segment, position FROM journal_positions',
    isRead: true,
    run: (store, _session, [instance]) =>
      rowsOf(
        [...store.positions].flatMap(([key, position]) => {
          const [of, segment] = key.split(' ')
          return of === instance ? [{ segment: Number(segment), position: String(position) }] : []
        }),
      ),
  },
  {
    start: 'DELETE FROM journal_positions',
    run: (store, _session, [instance, below = Number.POSITIVE_INFINITY]) => {
      for (const key of [...store.positions.keys()]) {
        const [of, segment] = key.split(' ')
        if (of === instance && Number(segment) < Number(below)) store.set(store.positions, key, undefined)
      }
      return none
    },
  },
  {
    start: 'SELECT move_journal_position(',
    run: (store, _session, _values, text) => {
      const [, instance = '', ...numbers] =
        /\('([^']+)', (\S+), (\S+), (\S+), (\S+), (\S+)\)/.exec(text) ?? []
      const [segment, from, to, lastSegment, lastAt] = numbers.map((text) =>
        text === 'NULL' ? undefined : Number(text),
      )
      const key = `${instance} ${segment}`
      const before = store.positions.get(key)
      const isNext =
        before === undefined &&
        (lastSegment === undefined || store.positions.get(`${instance} ${lastSegment}`) === lastAt)
      if (from === 0 ? !isNext : before !== from)
        throw refusal('TG001', `another position than ${from}: ${before}`)
      store.set(store.positions, key, to)
      return none
    },
  },
  {
    start: 'COPY ',
    run: (store, _session, _values, text, inputs) => {
      const [, table = '', names = ''] = /^COPY (\w+) \(([^)]+)\)/.exec(text) ?? []
      copyInto(store, table, names.split(', '), inputs.shift() ?? Buffer.alloc(0))
      return none
    },
  },
  {
    start: 'DELETE FROM open_requests WHERE instance_id = $1',
    run: (store, _session, [instance]) => {
      for (const key of [...store.openRequests.keys()])
        if (key.startsWith(word(instance))) store.set(store.openRequests, key, undefined)
      return none
    },
  },
  {
    start: "DELETE FROM open_requests WHERE instance_id = '",
    run: (store, _session, _values, text) => {
      const [, instance, ids = ''] =
        /instance_id = '([^']+)' AND request_id = ANY \('{([^}]*)}/.exec(text) ?? []
      for (const id of ids.split(',')) store.set(store.openRequests, `${instance} ${id}`, undefined)
      return none
    },
  },
  {
    start: 'SELECT request_id AS id, half FROM open_requests',
    isRead: true,
    run: (store, _session, [instance]) =>
      rowsOf(
        [...store.openRequests].flatMap(([key, half]) => {
          const [of, id] = key.split(' ')
          return of === instance ? [{ id, half }] : []
        }),
      ),
  },
  {
    start: 'SELECT r.id',
    isRead: true,
    run: (store, _session, [ids]) =>
      rowsOf(
        list(ids).flatMap((id) => {
          const row = store.rows.get(id)
          return row === undefined ? [] : [{ id, outcome: row.outcome }]
        }),
      ),
  },
  {
    start: 'INSERT INTO request_answers',
    run: (store, _session, [ids]) => {
      for (const id of list(ids)) store.set(store.answers, id, true)
      return none
    },
  },
  // What they do to reservations and accounts is tested with Postgres.
  { start: 'SELECT settle_money(', run: () => none },
  { start: 'SELECT release_instance(', run: () => none },
  { start: 'SELECT sweep_reservations()', isFree: true, run: () => none },
  {
    start: 'SELECT retire_silent_instances(',
    run: (store, session, [caller, silentMs, apartMs]) => {
      if (!store.claimSweep('lost_instances', Number(apartMs))) return none
      const silent = [...store.instances].filter(([id, one]) => {
        if (one.state !== 'live' || one.keepsOpen || id === caller) return false
        if (!isSilent(store, one, Number(silentMs) / 1000) || !store.tryLock(session, id)) return false
        store.unlock(session, id)
        return true
      })
      for (const [id, one] of silent) store.set(store.instances, id, { ...one, state: 'lost' })
      return rowsOf(silent.map(([id]) => ({ id })))
    },
  },
  {
    start: "SELECT claim_sweep('lost', 4000)",
    isFree: true,
    run: (store) => rowsOf([{ ok: store.claimSweep('lost', 4000) }]),
  },
]

function insertInstance(store: Store, id: string, keepsOpen: boolean): Answer {
  if (!store.instances.has(id))
    store.set(store.instances, id, { state: 'live', heartbeatAt: store.now, keepsOpen })
  return none
}

function update(
  store: Store,
  id: string,
  isMeant: (one: StoredInstance) => boolean,
  changes: Partial<StoredInstance>,
): Answer {
  const found = store.instances.get(id)
  if (found === undefined || !isMeant(found)) return none
  store.set(store.instances, id, { ...found, ...changes })
  return { rows: [], rowCount: 1 }
}

function isSilent(store: Store, { heartbeatAt }: StoredInstance, seconds: unknown): boolean {
  return heartbeatAt < store.now - Number(seconds) * 1000
}

function copyInto(store: Store, table: string, columns: readonly string[], input: Buffer): void {
  for (let at = copyHeader.length; input.readInt16BE(at) === columns.length; ) {
    const { row, end } = rowAt(input, at + 2, columns)
    const id = word(row.id)
    switch (table) {
      case 'requests':
        if (word(row.user_agent).includes(refusedText))
          throw refusal('22021', 'simulated: a text that is refused')
        if (store.rows.has(id)) {
          store.duplicates++
          throw refusal('23505', `simulated: a second row of ${id}`)
        }
        store.set(store.rows, id, row)
        break
      case 'entries':
        if (store.charges.has(id)) throw refusal('23505', `simulated: a second charge of ${id}`)
        store.set(store.charges, id, -BigInt(word(row.amount_nano)))
        break
      case 'request_payloads':
        if (store.payloads.has(word(row.request_id)))
          throw refusal('23505', `simulated: a second body of ${word(row.request_id)}`)
        store.set(store.payloads, word(row.request_id), true)
        break
      case 'open_requests': {
        // Three columns, each after its length.
        const key = `${uuidText(input.subarray(at + 6, at + 22))} ${uuidText(input.subarray(at + 26, at + 42))}`
        store.set(store.openRequests, key, Buffer.from(input.subarray(at + 46, end)))
        break
      }
    }
    at = end
  }
}

/** A row with this in its user agent is refused because of its data. */
export const refusedText = '(refused)'
