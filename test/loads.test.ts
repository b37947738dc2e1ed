import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { compiledCode } from '../src/runtime/compiled-code.ts'

const root = resolve(import.meta.dirname, '..')

/** The files of packages and the modules of Node that a process has loaded once it has imported these files. */
function loadedBy(...names: string[]): { files: string[]; builtins: string[] } {
  const script = join(root, 'test/support/loads-process.ts')
  const { stdout, stderr } = spawnSync(process.execPath, [script, ...names], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '', NODE_COMPILE_CACHE: compiledCode.directory },
  })
  expect(stderr).not.toContain('Error')
  return JSON.parse(stdout)
}

test('a start loads neither the undici inside Node nor the parts of our own that only fetch needs', () => {
  const { files, builtins } = loadedBy('src/process/serve.ts', 'workers/main.ts')
  expect(builtins).not.toContain('NativeModule internal/deps/undici/undici')
  const undici = files.filter((file) => file.startsWith('undici/'))
  expect(undici).toContain('undici/lib/dispatcher/pool.js')
  expect(undici.filter((file) => /^undici\/(index|lib\/(web|mock|cache)\/)/.test(file))).toEqual([])
})

test('a command that does not run loads only the library for command lines', () => {
  const { files } = loadedBy('src/commands/run-command.ts', 'src/commands/registry.ts')
  const others = files.filter((file) => !/^commander\/|^drizzle-orm\/(errors|entity)\.cjs$/.test(file))
  expect(others).toEqual([])
})
