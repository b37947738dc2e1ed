import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { administer } from '../support/administer.ts'
import { startDebianPostgres } from '../support/debian-postgres.ts'
import { type DoctorBed, startDoctorBed } from '../support/doctor-bed.ts'

let bed: DoctorBed
beforeAll(async () => {
  bed = await startDoctorBed()
})
afterAll(() => bed.close())

test('a Postgres whose pg_hba.conf rejects this machine is not said to refuse the password', async () => {
  const server = await startDebianPostgres({ fsync: 'off' })
  onTestFinished(() => server.stop())
  writeFileSync(join(server.cluster, 'pg_hba.conf'), 'host all all 127.0.0.1/32 reject\n')
  await administer(server.url, 'SELECT pg_reload_conf()')
  // The server reloads it a moment later.
  await expect
    .poll(async () => (await bed.diagnose({ DATABASE_URL: server.url })).wrong)
    .toEqual(['database.pg_hba'])
})
