import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'

/** The folder of a run, made in a thread, whose `process` ends as that of a run does. */

/** Above every pid that Linux gives. */
const nobody = 2 ** 22 + 1

test('a run has a folder of its own, which everybody may write to', () => {
  expect(tmpdir()).toMatch(/\/tollgate-run-\d+$/)
  expect(statSync(tmpdir()).mode & 0o7777).toBe(0o1777)
})

test('it is gone at the end of the run, and so are those of runs that were killed long ago', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'parent-'))
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }))
  const hoursAgo = new Date(Date.now() - 2 * 3_600_000)
  const folder = (pid: number, made?: Date) => {
    const path = join(parent, `tollgate-run-${pid}`)
    mkdirSync(path)
    writeFileSync(join(path, 'left'), '')
    if (made !== undefined) utimesSync(path, made, made)
    return path
  }
  const killed = folder(nobody, hoursAgo)
  const hidden = folder(nobody + 1)
  const running = folder(process.ppid, hoursAgo)

  const own = join(parent, `tollgate-run-${process.pid}`)
  const program = pathToFileURL(join(import.meta.dirname, 'run-folder.ts')).href
  const thread = new Worker(
    `import(${JSON.stringify(program)}).then(({ makeRunFolder }) => {
      const folder = makeRunFolder(${JSON.stringify(parent)})
      require('node:worker_threads').parentPort.postMessage(folder)
    })`,
    { eval: true },
  )
  const told = new Promise((resolve) => thread.once('message', resolve))
  const ended = new Promise((resolve) => thread.once('exit', resolve))
  expect(await told).toBe(own)
  expect(await ended).toBe(0)
  expect([killed, hidden, running, own].map((path) => existsSync(path))).toEqual([false, true, true, false])
})
