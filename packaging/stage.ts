import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'

/** All that the package has beside its package.json and the packages bundled with it. Its `files` are these. */
const programs = ['src/**/*.{ts,cjs}', 'workers/**/*.ts']
/** The workspaces that a start or a command loads. Folder `x` is the package `tollgate-x`, which npm bundles with ours. */
const workspaces = ['demo', 'verify']
const others = [
  'src/db/functions/*.sql',
  'migrations/*.sql',
  'migrations/meta/_journal.json',
  'console/dist/**/*',
  'tollgate.cjs',
  'runtime.cjs',
  'gateway.example.yaml',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
]

/** Write the content of the package into a folder. Answers how many files it has. */
export function stage(root: string, folder: string, name?: string): number {
  const patterns = [...programs, ...workspaces.map((name) => `${name}/**/*.{ts,json}`)]
  const sources = filesOf(root, patterns).filter((file) => !/\.d\.c?ts$/.test(file))
  const typed = new Set(sources.filter((file) => file.endsWith('.ts')).map(placeOf))
  for (const file of sources) {
    const text = readFileSync(join(root, file), 'utf8')
    const place = placeOf(file)
    if (typed.has(place)) write(folder, place.replace(/\.ts$/, '.js'), javaScriptOf(place, text, typed))
    else write(folder, place, text)
  }
  const copied = filesOf(root, others)
  for (const file of copied) {
    mkdirSync(join(folder, dirname(file)), { recursive: true })
    cpSync(join(root, file), join(folder, file))
  }
  write(folder, 'package.json', manifestOf(readFileSync(join(root, 'package.json'), 'utf8'), name))
  return sources.length + copied.length + 1
}

/** Where the package has a file of the repository. */
function placeOf(file: string): string {
  const [top = ''] = file.split('/')
  return workspaces.includes(top) ? `node_modules/tollgate-${file}` : file
}

function filesOf(root: string, patterns: readonly string[]): string[] {
  return globSync(patterns, { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort()
}

/** Types become blanks, so each line of an error is that of the source. Names of our files get their new ending. */
export function javaScriptOf(file: string, text: string, files: ReadonlySet<string>): string {
  return stripTypeScriptTypes(text).replace(/'([\w./-]+)\.ts'/g, (whole, path: string) =>
    files.has(join(dirname(file), `${path}.ts`)) || files.has(`node_modules/${path}.ts`)
      ? `'${path}.js'`
      : whole,
  )
}

/** What a package needs of ours. It has no scripts, no workspaces, and no packages for development. */
function manifestOf(text: string, name: string | undefined): string {
  const ours: Record<string, unknown> = JSON.parse(text)
  const kept = ['version', 'description', 'license', 'type', 'bin', 'dependencies', 'optionalDependencies']
  const manifest = {
    name: name ?? ours.name,
    ...(name === undefined && { private: true }),
    ...Object.fromEntries(kept.map((member) => [member, ours[member]])),
    // runtime.cjs finds a newer one, or says that it is missing.
    engines: { node: '>=20' },
    bundleDependencies: workspaces.map((name) => `tollgate-${name}`),
    files: ['src', 'workers', 'migrations', 'console/dist', ...others.filter((one) => !one.includes('/'))],
  }
  return `${JSON.stringify(manifest, null, 2)}\n`
}

function write(folder: string, file: string, text: string): void {
  const path = join(folder, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
