import { randomUUIDv7 } from 'node:crypto'
import type { Channel } from '../../src/catalog/snapshot.ts'
import { settingsOfChannels } from '../../src/db/settings/channel-settings.ts'
import { defaultsOf } from '../../src/db/settings/setting.ts'
import { type JobClaim, type JobEnding, Jobs, type NewJob } from '../../src/jobs/jobs.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { aClose, anOpen } from '../support/records.ts'

/** Jobs on a database of its own, without queue, workers or upstream. */
export interface JobBed {
  url: string
  database: Database
  jobs: Jobs
  /** A tenant whose money is limited. */
  aTenant(balanceNano: bigint): Promise<string>
  /** Accepts a job. Resolves with its id. */
  aJob(changes?: Partial<NewJob>): Promise<string>
  /** The balance of the tenant's account, and the money held of it. */
  account(tenantId: string): Promise<unknown>
  close(): Promise<void>
}

export const leaseMs = 60_000

export async function startJobBed(queueWindow = 4): Promise<JobBed> {
  const { url, drop } = await freshDatabase()
  const database = openDatabase(url, { max: 16 })
  const cipher = {
    encrypt: (text: string, owner: string) => Buffer.from(`${owner}|${text}`),
    decrypt: (encrypted: Buffer, owner: string) => encrypted.toString().slice(owner.length + 1),
  }
  const jobs = new Jobs({ database, cipher, waitMs: 5_000, waitingMax: 1_000, queueWindow, leaseMs })
  return {
    url,
    database,
    jobs,
    async aTenant(balanceNano) {
      const id = randomUUIDv7()
      await database.sql`INSERT INTO tenants (id, name, managed_by) VALUES (${id}, ${id}, 'admin')`
      await database.sql`INSERT INTO accounts (id, limited, balance_nano) VALUES (${id}, true, ${balanceNano.toString()})`
      await database.sql`INSERT INTO entries (id, account_id, created_at, kind, amount_nano)
        VALUES (${randomUUIDv7()}, ${id}, now(), 'opening', ${balanceNano.toString()})`
      return id
    },
    async aJob(changes = {}) {
      const job = newJob(changes)
      const { verdict } = await jobs.accept(job)
      if (verdict !== 'accepted') throw new Error(`the job was not accepted: ${verdict}`)
      return job.opened.id
    },
    async account(tenantId) {
      const [row] =
        await database.sql`SELECT balance_nano, reserved_nano FROM accounts WHERE id = ${tenantId}`
      return row
    },
    async close() {
      await database.close()
      await drop()
    },
  }
}

export function newJob(changes: Partial<NewJob> = {}): NewJob {
  const tenantId = changes.tenantId ?? randomUUIDv7()
  return {
    kind: 'image',
    opened: anOpen({ tenantId, endpoint: '/v1/images/generations', body: null }),
    body: '{"prompt":"kept"}',
    tenantId,
    keyId: randomUUIDv7(),
    groupId: randomUUIDv7(),
    priority: 0,
    model: 'draw',
    quote: {
      price: undefined,
      multiplier: '1',
      size: undefined,
      quality: undefined,
      count: 1,
      heldNano: undefined,
      delivery: undefined,
      stream: false,
    },
    request: '{"prompt":"whole"}',
    webhook: undefined,
    amountNano: undefined,
    ...changes,
  }
}

/** The claim, which must have succeeded. */
export function claimed(claim: JobClaim): Extract<JobClaim, { verdict: 'claimed' }> {
  if (claim.verdict !== 'claimed') throw new Error(`not claimed: ${JSON.stringify(claim)}`)
  return claim
}

export function anEnding(changes: Partial<JobEnding> & { costNano?: bigint | null } = {}): JobEnding {
  const { costNano = 0n, ...rest } = changes
  return {
    state: 'succeeded',
    close: aClose({ costNano, attempts: [] }),
    images: 1,
    result: null,
    error: null,
    ...rest,
  }
}

export function aChannel(changes: Partial<Channel>): Channel {
  return {
    id: randomUUIDv7(),
    name: 'painter',
    protocols: {},
    ...defaultsOf(settingsOfChannels),
    credentials: [''],
    vendor: undefined,
    ...changes,
  }
}
