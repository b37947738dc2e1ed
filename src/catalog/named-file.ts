import { readFileSync, statSync } from 'node:fs'

/** Larger files are not read. Certificates and credentials are far smaller. */
const bytesMax = 1024 * 1024

/**
 * Returns the contents of a file that gateway.yaml names. Throws an Error with the system's `code`, or EFBIG
 * if the file is too large.
 */
export function readNamedFile(path: string): string {
  const found = statSync(path)
  // Reading a pipe would block.
  if (!found.isFile())
    throw Object.assign(new Error('not a regular file'), { code: found.isDirectory() ? 'EISDIR' : 'EINVAL' })
  if (found.size > bytesMax) throw Object.assign(new Error('the file is too large'), { code: 'EFBIG' })
  return readFileSync(path, 'utf8')
}

/** Describes an Error of `readNamedFile` to the operator. */
export function whyUnreadable(error: unknown): string {
  const { code = 'unknown error' } = error instanceof Error ? (error as NodeJS.ErrnoException) : {}
  return `cannot be read (${code})`
}

/**
 * Returns the files that a gateway.yaml may refer to, as written there. They are found without parsing,
 * because parsing a large file takes long and most starts do not need it. False matches, such as in a
 * comment, do no harm.
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

/** A variable's value can be the name of a file. */
function valuesIn(text: string, env: Readonly<Record<string, string | undefined>>): string[] {
  const names = new Set([...text.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name ?? ''))
  return [...names].flatMap((name) => (env[name]?.startsWith('file:') ? [`'${env[name]}'`] : []))
}
