import { type FormatId, formatIds } from './format.ts'

export interface Options {
  /** Where the paths of the formats begin, such as `http://127.0.0.1:8787/v1`. */
  base: string
  model: string
  key: string
  formats: readonly FormatId[]
  /** The user named the formats, so each must be served. */
  areNamed: boolean
  imageModel: string | undefined
  isJson: boolean
  timeoutMs: number
  /** Bounds the answer of each request that has no bound of its own. Default: none. */
  outputBound?: OutputBound
  /** Texts other than the key that the report may not show, if an answer repeats them. Default: none. */
  secrets?: readonly string[]
}

/** The member of a body that bounds its answer. */
export interface OutputBound {
  member: string
  tokens: number
}

/** The command line cannot be followed. The message says what to change. */
export class UsageError extends Error {}

/** What is on the command line. */
export interface GivenOptions {
  base?: string | undefined
  model?: string | undefined
  keyEnv?: string | undefined
  only?: string | undefined
  imageModel?: string | undefined
  timeout?: string | undefined
  json?: boolean
}

/** Throws UsageError. */
export function readOptions(
  values: GivenOptions,
  env: Readonly<Record<string, string | undefined>>,
): Options {
  const { model } = values
  if (model === undefined || model === '') throw new UsageError('Say which model to ask: --model MODEL.')
  const variable = values.keyEnv ?? 'TOLLGATE_KEY'
  const key = env[variable] ?? ''
  if (key.trim() === '') {
    throw new UsageError(
      `${variable} is not set: put the key there, or name another variable with --key-env. For a server without keys any text will do.`,
    )
  }
  if (!/^[\x21-\x7e]+$/.test(key.trim()))
    throw new UsageError(`${variable} holds characters that no header can carry: copy the key again.`)
  const timeout = Number(values.timeout ?? 60)
  if (!(timeout >= 1 && timeout <= 600))
    throw new UsageError(`--timeout must be 1 to 600 seconds, not ${JSON.stringify(values.timeout)}.`)
  return {
    base: readBase(values.base),
    model,
    key: key.trim(),
    formats: readFormats(values.only),
    areNamed: values.only !== undefined,
    imageModel: values.imageModel,
    isJson: values.json === true,
    timeoutMs: timeout * 1000,
  }
}

/** An address without a path gets `/v1`. */
function readBase(base: string | undefined): string {
  if (base === undefined)
    throw new UsageError('Say whom to ask: --base URL, such as http://127.0.0.1:8787/v1.')
  const url = URL.parse(base)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(
      `--base must be an address that begins with http:// or https://, not ${JSON.stringify(base)}.`,
    )
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new UsageError(
      '--base must have no user, password, query or fragment: put the key into the environment.',
    )
  const path = url.pathname.replace(/\/+$/, '')
  if (/\/(chat\/completions|responses|messages)$/.test(path))
    throw new UsageError(`--base must end before the path of a format, such as ${url.origin}/v1.`)
  return `${url.origin}${path === '' ? '/v1' : path}`
}

function readFormats(only: string | undefined): readonly FormatId[] {
  if (only === undefined) return formatIds
  const names = only.split(',').map((name) => name.trim())
  const wrong = names.find((name) => !formatIds.some((id) => id === name))
  if (wrong !== undefined)
    throw new UsageError(`--only takes ${formatIds.join(', ')}, not ${JSON.stringify(wrong)}.`)
  return formatIds.filter((id) => names.includes(id))
}
