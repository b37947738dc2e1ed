import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { saveImage } from '../../packaging/image.ts'

/** What a release asks of `docker`. In its place is a program that notes how it was called. */

let home: string
let bin: string
const release = () => ({
  root: '/a/checkout',
  version: '1.2.3',
  revision: 'abc',
  folder: home,
  options: ['--network=host'],
})

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tollgate-image-'))
  bin = join(home, 'bin')
  mkdirSync(bin)
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  vi.stubEnv('PATH', bin)
  onTestFinished(() => void vi.unstubAllEnvs())
})

/** `cases` are lines of a shell's `case`. */
function fakeDocker(cases: string): void {
  const program = `#!/bin/sh\necho "$*" >>${home}/calls\ncase $1 in\n${cases}\nesac\n`
  writeFileSync(join(bin, 'docker'), program, { mode: 0o755 })
}
const calls = () => readFileSync(join(home, 'calls'), 'utf8').trim().split('\n')
const archives = () => readdirSync(home).filter((name) => name.endsWith('.gz'))

test('the image is built of the checkout, names version and commit, and becomes an archive that says its platform', async () => {
  fakeDocker('image) echo linux-arm64 ;;\nsave) echo layers ;;')
  expect(await saveImage(release())).toEqual({ file: 'tollgate-1.2.3-linux-arm64.tar.gz' })
  const label = 'org.opencontainers.image'
  expect(calls()).toContain(
    `build --tag tollgate:1.2.3 --label ${label}.version=1.2.3 --label ${label}.revision=abc --network=host /a/checkout`,
  )
  expect(calls().at(-1)).toBe('save tollgate:1.2.3')
  const [archive = ''] = archives()
  expect(execFileSync('/bin/gzip', ['-dc', join(home, archive)], { encoding: 'utf8' })).toBe('layers\n')
})

test('without docker, or without an engine, the image is missing for that reason', async () => {
  expect(await saveImage(release())).toEqual({ missing: expect.stringContaining('ENOENT') })
  fakeDocker('version) echo Is the daemon running? >&2; exit 1 ;;')
  expect(await saveImage(release())).toEqual({ missing: 'docker reaches no engine: Is the daemon running?' })
  expect(calls()).toHaveLength(1)
})

test.each([
  ['build', 'build) exit 1 ;;', false],
  ['save', 'image) echo linux-amd64 ;;\nsave) echo half; exit 1 ;;', true],
])('with an engine, a failure of docker %s is one of the release', async (verb, cases, isBegun) => {
  fakeDocker(cases)
  await expect(saveImage(release())).rejects.toThrow(`docker ${verb} failed`)
  expect(existsSync(join(home, 'tollgate-1.2.3-linux-amd64.tar.gz'))).toBe(isBegun)
})
