import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

/** One TypeScript file of this repository. */
export interface Source {
  /** Path from the root of the repository. */
  file: string
  text: string
  /** Files and packages that it imports. Files by their path from the root. */
  imports: string[]
  /** Those of `imports` that Node loads: all that are not imported for their types alone. */
  loads: string[]
}

/** Every file of src, workers, demo, verify, bench and test. */
export function readSources(): Source[] {
  return ['src', 'workers', 'demo', 'verify', 'bench', 'test'].flatMap((folder) => sourcesIn(folder))
}

/** Every file of the pages' code. */
export function readConsole(): Source[] {
  return sourcesIn('console')
}

/** Made by npm run generate, and not in the repository. Earlier commits have it. */
export const generated = 'console/src/api/openapi.ts'

/** The files of a folder of this repository, or of the tree that `from` names. None if there is no such folder. */
export function sourcesIn(folder: string, { from = root, names = /\.tsx?$/ } = {}): Source[] {
  if (!existsSync(join(from, folder))) return []
  return readdirSync(join(from, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => names.test(name) && !/(^|\/)(node_modules|dist)\//.test(name))
    .sort()
    .map((name) => join(folder, name))
    .map((file) => sourceOf(file, readFileSync(join(from, file), 'utf8')))
}

/** The files that load one of `modules`, directly or through other files. */
export function filesThatLoad(sources: readonly Source[], modules: readonly string[]): Set<string> {
  const found = new Set(modules)
  for (let before = -1; before !== found.size; ) {
    before = found.size
    for (const { file, loads } of sources) {
      if (loads.some((name) => found.has(name))) found.add(file)
    }
  }
  return found
}

/** `file`: path from the root of its tree. */
export function sourceOf(file: string, text: string): Source {
  const found = [
    ...text.matchAll(
      /(?:(?:^|\n)(?:import|export)\s([^'"`;]*?)from\s|import\s*\(?\s*|new URL\((?='\.))'([^']+)'/g,
    ),
  ]
  const named = found.map(([, words = '', path = '']) => ({
    path: fromRoot(file, path),
    isType: isType(words),
  }))
  return {
    file,
    text,
    imports: named.map(({ path }) => path),
    loads: named.filter(({ isType }) => !isType).map(({ path }) => path),
  }
}

/** `import type { A } from` and `import { type A, type B } from`: Node erases both. */
function isType(words: string): boolean {
  if (words.startsWith('type ')) return true
  const names = /^\{([^}]*)\}\s*$/
    .exec(words)?.[1]
    ?.split(',')
    .map((name) => name.trim())
  return names?.filter(Boolean).every((name) => name.startsWith('type ')) ?? false
}

function fromRoot(file: string, path: string): string {
  if (path.startsWith('.')) return relative(root, resolve(root, dirname(file), path))
  // A workspace has the name of its folder: `tollgate-verify/run.ts` is verify/run.ts.
  return path.replace(/^tollgate-(?=\w+\/)/, '')
}
