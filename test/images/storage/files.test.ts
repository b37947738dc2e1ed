import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fileStorage } from '../../../src/storage/files.ts'

let above = ''
let directory = ''
beforeEach(() => {
  above = mkdtempSync(join(tmpdir(), 'tollgate-images-'))
  directory = join(above, 'images')
})
afterEach(() => rmSync(above, { recursive: true }))

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

test('other users cannot read folders and files, and a half-written file has another name', async () => {
  const storage = fileStorage({ directory })
  const writer = storage.create()
  await writer.write(Buffer.from('one'))
  expect(existsSync(join(directory, writer.key))).toBe(false)
  expect(modeOf(join(directory, `${writer.key}.part`))).toBe('600')
  await writer.commit()
  expect(readdirSync(join(directory, writer.key.slice(0, 10)))).toEqual([writer.key.slice(11)])
  expect(modeOf(directory)).toBe('700')
  expect(modeOf(join(directory, writer.key.slice(0, 10)))).toBe('700')
  expect(modeOf(join(directory, writer.key))).toBe('600')
})

test('a full disk is named in the error, and the image does not exist', async () => {
  // Each write to this device fails because no space is left.
  const storage = fileStorage({ directory, openFile: () => open('/dev/full', 'w') })
  const writer = storage.create()
  await expect(writer.write(Buffer.from('one'))).rejects.toThrow(
    `The image cannot be stored in ${directory}: no space left on the disk (ENOSPC`,
  )
  await writer.abandon()
  expect(await storage.open(writer.key)).toBeUndefined()
  await expect(storage.check()).rejects.toThrow(`Images cannot be stored in ${directory}: ENOSPC`)
})

test('the error names a directory that cannot be made', async () => {
  writeFileSync(join(above, 'file'), '')
  const storage = fileStorage({ directory: join(above, 'file', 'images') })
  await expect(storage.check()).rejects.toThrow(`Images cannot be stored in ${above}/file/images: ENOTDIR`)
  await expect(storage.create().write(Buffer.from('one'))).rejects.toThrow('cannot be stored')
})

test('an image whose half-written file was deleted is not committed', async () => {
  const storage = fileStorage({ directory })
  const writer = storage.create()
  await writer.write(Buffer.from('one'))
  expect(await storage.removeBefore(new Date(Date.now() + 48 * 3600 * 1000))).toBe(1)
  await expect(writer.commit()).rejects.toThrow('ENOENT')
  expect(await storage.open(writer.key)).toBeUndefined()
})

test('retention works in an empty storage, and deletes the folders of days', async () => {
  const storage = fileStorage({ directory })
  expect(await storage.removeBefore(new Date())).toBe(0)
  await storage.create().commit()
  expect(await storage.removeBefore(new Date(Date.now() + 48 * 3600 * 1000))).toBe(1)
  expect(readdirSync(directory)).toEqual([])
})

test('retention deletes what a process left that was killed in its check', async () => {
  const made = Promise.withResolvers<void>()
  const killed = fileStorage({
    directory,
    async openFile(...file) {
      await (await open(...file)).close()
      made.resolve()
      return await new Promise<never>(() => {})
    },
  })
  void killed.check()
  await made.promise
  expect(readdirSync(directory)).toHaveLength(1)
  const tomorrow = new Date(Date.now() + 48 * 3600 * 1000)
  expect(await fileStorage({ directory }).removeBefore(tomorrow)).toBe(0)
  expect(readdirSync(directory)).toEqual([])
})

test('a process that stores images as files never loads the SDK of S3', () => {
  const script = `
    import { registerHooks } from 'node:module'
    const asked = []
    registerHooks({ resolve: (name, context, next) => (asked.push(name), next(name, context)) })
    const { fileStorage } = await import('./src/storage/files.ts')
    const { s3Storage } = await import('./src/storage/s3.ts')
    await fileStorage({ directory: ${JSON.stringify(directory)} }).check()
    const before = asked.some((name) => name.includes('aws-sdk'))
    await s3Storage({ bucket: 'b', region: 'r', prefix: '', endpoint: 'http://127.0.0.1:1' })
    console.log(JSON.stringify([before, asked.some((name) => name.includes('aws-sdk'))]))`
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  expect(child.stderr).toBe('')
  expect(JSON.parse(child.stdout)).toEqual([false, true])
})
