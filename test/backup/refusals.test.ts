import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { manifestFile, writeManifest } from '../../src/commands/backup/manifest.ts'
import { findTool } from '../../src/commands/backup/postgres-tools.ts'
import { restoreBackup } from '../../src/commands/backup/restore-backup.ts'

/** What a restore refuses before it changes anything. */

let home: string
let folder: string
let dataDir: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tollgate-backup-'))
  folder = join(home, 'backup')
  dataDir = join(home, 'data')
  onTestFinished(() => rmSync(home, { recursive: true }))
})

const contents = { 'cluster/PG_VERSION': '18\n', 'data/secret.key': 'a secret of many characters\n' }

function makeFolder(paths: Record<string, string> = contents): void {
  const files = Object.entries(paths).map(([path, text]) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
    return { path, bytes: text.length, sha256: createHash('sha256').update(text).digest('hex') }
  })
  const state = {
    at: '2026-11-26T12:00:00.000Z',
    facts: { tenants: 1, keys: 1, channels: 1, balancesNano: '0' },
  }
  writeManifest(folder, {
    ...{ format: 1, release: '0.1.0', method: 'copy', postgres: '18.4', from: state, to: state },
    ...{ parts: ['secret.key'], files },
  })
}

const restored = (more: Partial<Parameters<typeof restoreBackup>[0]> = {}) =>
  restoreBackup({
    ...{ folder, dataDir, databaseUrl: undefined, cluster: undefined, databaseOnly: false },
    ...{ env: {}, onProgress: () => {}, signal: new AbortController().signal },
    ...more,
  })

test('a folder that is not a whole backup, or one of a later release', async () => {
  await expect(restored()).rejects.toThrow(`${folder} is not a complete backup: manifest.json is missing`)
  makeFolder()
  writeFileSync(join(folder, manifestFile), '{"format": 2}')
  await expect(restored()).rejects.toThrow('is damaged, or was written by a later release of Tollgate')
})

test.each([
  ['a file that is missing', () => rmSync(join(folder, 'data/secret.key')), 'data/secret.key is missing'],
  [
    'a file that is cut',
    () => writeFileSync(join(folder, 'cluster/PG_VERSION'), '1'),
    'expected 3 bytes, got 1',
  ],
  [
    'a file with another byte',
    () => writeFileSync(join(folder, 'cluster/PG_VERSION'), '19\n'),
    'does not match its checksum',
  ],
])('a backup with %s, which the message names', async (_, damage, said) => {
  makeFolder()
  damage()
  await expect(restored()).rejects.toThrow(/the backup is damaged: (data|cluster)\//)
  await expect(restored()).rejects.toThrow(said)
  expect(readdirSync(home)).toEqual(['backup'])
})

test('a DATA_DIR that is not empty, a DATABASE_URL for a copy, and parts of it', async () => {
  makeFolder()
  mkdirSync(dataDir)
  writeFileSync(join(dataDir, 'secret.key'), 'of somebody')
  await expect(restored()).rejects.toThrow('is not empty: move its contents elsewhere')
  expect(readdirSync(dataDir)).toEqual(['secret.key'])
  await expect(restored({ databaseUrl: 'postgres://127.0.0.1:1/x' })).rejects.toThrow('without DATABASE_URL')
  await expect(restored({ databaseOnly: true })).rejects.toThrow('omit --database-only')
})

test('a backup whose files would lie outside of it', async () => {
  makeFolder({ ...contents, 'data/../../escaped': 'x' })
  await expect(restored()).rejects.toThrow('the backup lists a file outside its folder')
})

test('a machine without a program of Postgres that is new enough is told which package has it', async () => {
  const finding = findTool('pg_dump', '99.1', { PATH: process.env.PATH })
  await expect(finding).rejects.toThrow('apt-get install postgresql-client-99')
})
