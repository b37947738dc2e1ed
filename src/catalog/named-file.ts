import { readFileSync, statSync } from 'node:fs'

/** Larger ones are not read: a certificate or a credential is far smaller. */
const bytesMax = 1024 * 1024

/**
 * The text of a file that gateway.yaml names. Throws an Error with the `code` of the system; EFBIG for a file
 * that is too large.
 */
export function readNamedFile(path: string): string {
  const found = statSync(path)
  // A pipe would keep the reader waiting.
  if (!found.isFile())
    throw Object.assign(new Error('it is not a file'), { code: found.isDirectory() ? 'EISDIR' : 'EINVAL' })
  if (found.size > bytesMax) throw Object.assign(new Error('it is too large'), { code: 'EFBIG' })
  return readFileSync(path, 'utf8')
}

/** What an Error of `readNamedFile` says to the operator. */
export function whyUnreadable(error: unknown): string {
  const { code = 'unknown error' } = error instanceof Error ? (error as NodeJS.ErrnoException) : {}
  return `cannot be read (${code})`
}

/**
 * The files that a gateway.yaml may name, as it names them, found without parsing it: that takes long for a
 * large file, and most starts need it not. Those that are found in vain, as in a comment, do no harm.
 */
export function namedFilesIn(text: string, env: Readonly<Record<string, string | undefined>>): string[] {
  const substituted = (name: string) =>
    name.replace(/\$\{(\w+)\}/g, (_, variable: string) => env[variable] ?? '')
  const found = [text, ...valuesIn(text, env)].flatMap((each) => [
    ...each.matchAll(namingSettings),
    ...each.matchAll(namingCredentials),
  ])
  return [...new Set(found.map(([, double, single, plain]) => substituted(double ?? single ?? plain ?? '')))]
}

const namingSettings = /\b(?:ca|cert|key)_file["']?[ \t]*:[ \t]*(?:"([^"\n]*)"|'([^'\n]*)'|([^\s,}#]+))/g
const namingCredentials = /(?:"file:([^"\n]*)"|'file:([^'\n]*)'|(?<![\w"'])file:([^\s,\]}"']+))/g

/** A variable may have the name of a file as its value. */
function valuesIn(text: string, env: Readonly<Record<string, string | undefined>>): string[] {
  const names = new Set([...text.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name ?? ''))
  return [...names].flatMap((name) => (env[name]?.startsWith('file:') ? [`'${env[name]}'`] : []))
}
