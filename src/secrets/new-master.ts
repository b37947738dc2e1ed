import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import {
  addMaster,
  askProcesses,
  type LiveProcess,
  liveProcesses,
  readMasters,
  useMaster,
} from './master-key-queries.ts'
import { openMasters, type SecretKeys, wrappingsOf } from './open-masters.ts'
import { idOfSecret } from './secret-key.ts'

/**
 * Makes a new master key and has all processes seal with it. Each process first learns the key for reading
 * only, so that none meets a value that it cannot open. An interrupted call leaves a key that no process
 * seals with, and the next call continues with it. Returns the id of the key. Throws an Error for the
 * operator if a process does not follow within `waitMs`.
 */
export async function changeMaster(sql: Sql, keys: SecretKeys, waitMs: number): Promise<string> {
  const rows = await readMasters(sql)
  // All existing keys must open before a new one is added.
  openMasters(rows, keys)
  const id = rows.masters.find(({ usedFrom }) => usedFrom === null)?.id ?? (await makeMaster(sql, keys))
  await untilAll(sql, waitMs, ({ known }) => known === id, 'has not learned the new master key')
  await useMaster(sql, id)
  await untilAll(sql, waitMs, ({ used }) => used === id, 'does not seal with the new master key yet')
  return id
}

async function makeMaster(sql: Sql, keys: SecretKeys): Promise<string> {
  const master = randomBytes(32).toString('hex')
  const id = idOfSecret(master)
  await addMaster(sql, { id, used: false, wrappings: wrappingsOf(master, keys) })
  return id
}

async function untilAll(
  sql: Sql,
  waitMs: number,
  follows: (process: LiveProcess) => boolean,
  what: string,
): Promise<void> {
  const deadline = performance.now() + waitMs
  await askProcesses(sql)
  for (;;) {
    const behind = (await liveProcesses(sql)).filter((process) => !follows(process))
    if (behind.length === 0) return
    if (performance.now() > deadline)
      throw new Error(behind.map((one) => `${processName(one)} ${what}`).join('\n'))
    await sleep(pollMs)
  }
}

/** A description by which an operator can find a process. */
export function processName({ host, pid, known, secretKeyId }: LiveProcess): string {
  const release =
    known === null ? ', which has not recorded a master key yet,' : ` with SECRET_KEY ${secretKeyId}`
  return `process ${pid} on ${host}${release}`
}

const pollMs = 100
