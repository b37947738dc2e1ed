import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { withFileLock } from '../../src/db/file-lock.ts'
import { ownerText } from '../../src/runtime/owner.ts'

let directory: string
let path: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-lock-'))
  path = join(directory, 'lock')
})
afterEach(() => rmSync(directory, { recursive: true }))

test('one process works at a time, each gets its turn, and no file stays behind', async () => {
  let working = 0
  let most = 0
  const work = async () => {
    working += 1
    most = Math.max(most, working)
    await turn()
    working -= 1
  }
  await Promise.all(Array.from({ length: 20 }, () => withFileLock(path, work)))
  expect(most).toBe(1)
  expect(readdirSync(directory)).toEqual([])
})

test('one of the waiting processes breaks the lock of a dead process', async () => {
  writeFileSync(path, JSON.stringify({ ...JSON.parse(ownerText()), pid: spawnSync('/bin/true').pid }))
  const order: number[] = []
  await Promise.all([1, 2, 3].map((n) => withFileLock(path, async () => void order.push(n))))
  expect(order.sort()).toEqual([1, 2, 3])
  expect(readdirSync(directory)).toEqual([])
})

test('a lock that names no holder keeps no one out, as when the machine failed while it was written', async () => {
  for (const text of ['', ownerText().slice(0, 20)]) {
    writeFileSync(path, text)
    expect(await withFileLock(path, async () => 'mine')).toBe('mine')
  }
  expect(readdirSync(directory)).toEqual([])
})

test('the lock of a live process is respected, and the message names it', async () => {
  writeFileSync(path, ownerText())
  await expect(withFileLock(path, async () => {}, 50)).rejects.toThrow(`held by process ${process.pid}`)
  expect(existsSync(path)).toBe(true)
})

test('work that fails releases the lock', async () => {
  const failing = withFileLock(path, () => Promise.reject(new Error('no luck')))
  await expect(failing).rejects.toThrow('no luck')
  expect(existsSync(path)).toBe(false)
})
