import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

interface Release {
  /** The checkout. */
  root: string
  version: string
  /** The commit. */
  revision: string
  /** Where the archive goes. */
  folder: string
  /** More options for `docker build`. */
  options: readonly string[]
}

/**
 * Builds the image by whatever engine `docker` reaches, and writes it as an archive that `docker load` takes.
 * The engine keeps it as `tollgate:VERSION`. Without an engine it answers `missing`, the reason. Throws if the
 * build fails.
 */
export async function saveImage(release: Release): Promise<{ file: string } | { missing: string }> {
  const { root, version, revision, folder, options } = release
  const engine = docker(['version', '--format', '{{.Server.Version}}'])
  if (engine.error !== undefined) return { missing: `docker does not run: ${engine.error.message}` }
  if (engine.status !== 0) return { missing: `docker reaches no engine: ${engine.stderr.trim()}` }

  const tag = `tollgate:${version}`
  const labels = [`version=${version}`, `revision=${revision}`].flatMap((label) => [
    '--label',
    `org.opencontainers.image.${label}`,
  ])
  const build = ['build', '--tag', tag, ...labels, ...options, root]
  const built = spawnSync('docker', build, { stdio: ['ignore', 2, 2] })
  if (built.status !== 0) throw new Error('docker build failed')
  const platform = ['image', 'inspect', '--format', '{{.Os}}-{{.Architecture}}', tag]
  const file = `tollgate-${version}-${docker(platform).stdout.trim()}.tar.gz`
  const save = spawn('docker', ['save', tag], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(save, 'exit')
  await pipeline(save.stdout, createGzip(), createWriteStream(join(folder, file)))
  const [code] = await exited
  if (code !== 0) throw new Error('docker save failed')
  return { file }
}

function docker(words: readonly string[]): SpawnSyncReturns<string> {
  return spawnSync('docker', words, { encoding: 'utf8', timeout: 60_000 })
}
