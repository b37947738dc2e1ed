import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { namespaces } from './on-host.ts'
import { filesThatLoad, type Source } from './sources.ts'

/** Something that not every machine has, and the test files that need it. */
export interface Extra {
  name: string
  /** How to get it. */
  get: string
  isHere: boolean
  /** These files can do nothing without it, and say so in their names. */
  files: RegExp
  /** CI does without it, too. */
  isOptional?: boolean
  /** Files that load this module test as much as they can without it. */
  optionalBy?: string
}

/** Where Debian's packages have them. */
export const chromiumPath = '/usr/bin/chromium'
export const pgbouncerPath = '/usr/sbin/pgbouncer'

/** What test/deploy/tools/install.sh has installed. */
export const toolsPath = resolve(import.meta.dirname, '../deploy/tools')
export const helmPath = join(toolsPath, 'bin/helm')

/** What test/deploy/images/build-tools.sh has built, in a quarter of an hour. */
export const composePath = join(toolsPath, 'bin/docker-compose')
export const weedPath = join(toolsPath, 'bin/weed')

/** What test/clients/tools/install.sh has installed. */
export const pythonPath = resolve(import.meta.dirname, '../clients/tools/node_modules/python/bin')

/** The oldest release of Postgres that Tollgate runs on. */
export const oldestPostgres = 15

/** Where Debian's packages have the programs of a release of Postgres. */
export const debianPrograms = (major: number): string => `/usr/lib/postgresql/${major}/bin`

/** The extras that this machine lacks. In CI only those that it may lack, so that a test that needs another one fails. */
export function missingExtras(): Extra[] {
  return extras().filter(({ isHere, isOptional }) => !isHere && !(process.env.CI && isOptional !== true))
}

function extras(): Extra[] {
  return [
    {
      name: 'redis-server',
      get: 'apt-get install redis-server',
      isHere: runs('redis-server', '--version'),
      files: /[/-]redis\.test\.ts$/,
      optionalBy: 'test/support/queue-backends.ts',
    },
    {
      name: 'pgbouncer',
      get: 'apt-get install pgbouncer',
      isHere: existsSync(pgbouncerPath),
      files: /[/-]pgbouncer\.test\.ts$/,
    },
    {
      name: `Postgres ${oldestPostgres}`,
      get: `apt-get install postgresql-${oldestPostgres}`,
      isHere: existsSync(`${debianPrograms(oldestPostgres)}/postgres`),
      files: /[/-](pg-dump|own-postgres)\.test\.ts$/,
    },
    {
      name: 'the right to mount a file system',
      get: 'run the tests as root, or as a user who may call sudo without a password',
      isHere: runs('mount', '--version') && (process.getuid?.() === 0 || runs('sudo', '-n', 'true')),
      files: /[/-]disk\.test\.ts$/,
    },
    {
      name: 'prlimit',
      get: 'apt-get install util-linux',
      isHere: runs('prlimit', '--version'),
      files: /[/-]open-files\.test\.ts$/,
    },
    {
      name: 'the right to give a process a host name and process ids of its own',
      get: 'run the tests on Linux as root, or where users may make namespaces',
      isHere: runs('unshare', ...namespaces, 'hostname', 'a-host'),
      files: /[/-](hosts|first-process)\.test\.ts$/,
    },
    {
      name: 'bash or curl',
      get: 'apt-get install bash curl',
      isHere: runs('bash', '--version') && runs('curl', '--version'),
      files: /[/-](tutorials|as-curl|deploy[/]greeting|console[/]log\.browser)\.test\.ts$/,
    },
    {
      name: 'script of util-linux',
      get: 'apt-get install bsdutils',
      isHere: runs('script', '-qec', 'stty size', '/dev/null'),
      files: /[/](import[/]prompt|commands[/]terminal)\.test\.ts$/,
    },
    {
      name: 'zsh and fish',
      get: 'apt-get install zsh fish',
      isHere: runs('zsh', '--version') && runs('fish', '--version'),
      files: /[/]commands[/]zsh-fish\.test\.ts$/,
    },
    {
      name: 'prometheus and promtool',
      get: 'apt-get install prometheus',
      isHere: runs('prometheus', '--version') && runs('promtool', '--version'),
      files: /[/-]prometheus\.test\.ts$/,
    },
    {
      name: 'chromium',
      get: 'apt-get install chromium',
      isHere: existsSync(chromiumPath),
      files: /\.browser\.test\.ts$/,
    },
    {
      name: 'caddy',
      get: 'apt-get install caddy',
      isHere: runs('caddy', 'version'),
      files: /[/]deploy[/]stack-redis\.test\.ts$/,
    },
    {
      name: 'a Docker engine with the images that we name',
      get: 'install docker.io and debootstrap, and run test/deploy/images/engine.sh and make.sh, or use the engine that you have',
      isHere: runs('docker', 'version'),
      files: /[/]deploy[/]containers\.test\.ts$/,
      isOptional: true,
    },
    {
      name: 'Docker Compose and SeaweedFS, built from their modules',
      get: 'with Go: sh test/deploy/images/build-tools.sh, and then make.sh',
      isHere: existsSync(composePath) && existsSync(weedPath) && runs('docker', 'version'),
      files: /[/]deploy[/]composed\.test\.ts$/,
      isOptional: true,
    },
    {
      name: 'Helm, and the types of Kubernetes and of compose files',
      get: 'sh test/deploy/tools/install.sh',
      isHere: existsSync(helmPath),
      files: /[/]deploy[/](chart|compose|probes)\.test\.ts$/,
    },
    {
      name: 'llm and LiteLLM, which need Python',
      get: 'sh test/clients/tools/install.sh',
      isHere: existsSync(join(pythonPath, 'llm')) && existsSync(join(pythonPath, 'litellm')),
      files: /[/]clients[/]pages\.test\.ts$/,
    },
  ]
}

function runs(program: string, ...words: string[]): boolean {
  return spawnSync(program, words).status === 0
}

/** The last lines of a run on a machine that lacks something that its tests need: which did without it, and how to get it. */
export function adviceOn(extras: readonly Extra[], sources: readonly Source[]): string {
  return extras.flatMap((extra) => adviceOnOne(extra, sources)).join('\n')
}

function adviceOnOne({ name, get, files, optionalBy }: Extra, sources: readonly Source[]): string[] {
  const tests = sources.map(({ file }) => file).filter((file) => file.endsWith('.test.ts'))
  const none = tests.filter((file) => files.test(file))
  const optional = filesThatLoad(sources, optionalBy === undefined ? [] : [optionalBy])
  const some = tests.filter((file) => optional.has(file) && !files.test(file))
  if (none.length + some.length === 0) return []
  return [
    `This machine lacks ${name}.`,
    ...none.map((file) => `  did not run: ${file}`),
    ...some.map((file) => `  ran without it: ${file}`),
    `To have these tests: ${get}`,
  ]
}
