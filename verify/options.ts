import { type FormatId, formatIds } from './format.ts'

export interface Options {
  /** The base URL of the formats, such as `http://127.0.0.1:8787/v1`. */
  base: string
  model: string
  key: string
  formats: readonly FormatId[]
  /** Whether the user named the formats, in which case each must be served. */
  areNamed: boolean
  imageModel: string | undefined
  isJson: boolean
  timeoutMs: number
  /** Limits the output of each request that sets no limit itself. There is no default limit. */
  outputBound?: OutputBound
  /** Makes the calls. Default: the `fetch` of the process. */
  fetch?: (url: string, init: CallInit) => Promise<Response>
  /**
   * Texts besides the key that the report must not show, even if a response repeats them. None by default.
   */
  secrets?: readonly string[]
}

export interface CallInit {
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body: string | null
  redirect: 'manual'
  signal: AbortSignal
}

/** The member of a body that limits the output. */
export interface OutputBound {
  member: string
  tokens: number
}

/** The command line is invalid. The message says what to change. */
export class UsageError extends Error {}

/** The values given on the command line. */
export interface GivenOptions {
  base?: string | undefined
  model?: string | undefined
  keyEnv?: string | undefined
  only?: string | undefined
  imageModel?: string | undefined
  timeout?: string | undefined
  json?: boolean
}

/** Throws a UsageError. */
export function readOptions(
  values: GivenOptions,
  env: Readonly<Record<string, string | undefined>>,
): Options {
  const { model } = values
  if (model === undefined || model === '')
    throw new UsageError('--model is required. Name the model to test with --model MODEL.')
  const variable = values.keyEnv ?? 'TOLLGATE_KEY'
  const key = env[variable] ?? ''
  if (key.trim() === '') {
    throw new UsageError(
      `${variable} is not set. Set it to the key, or name another variable with --key-env. For a server without keys, any text works.`,
    )
  }
  if (!/^[\x21-\x7e]+$/.test(key.trim()))
    throw new UsageError(
      `${variable} contains characters that are not allowed in a header. Copy the key again.`,
    )
  const timeout = Number(values.timeout ?? 60)
  if (!(timeout >= 1 && timeout <= 600))
    throw new UsageError(`--timeout must be from 1 to 600 seconds, not ${JSON.stringify(values.timeout)}.`)
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

/** Appends `/v1` to an address without a path. */
function readBase(base: string | undefined): string {
  if (base === undefined)
    throw new UsageError('--base is required. Set it to the base URL, such as http://127.0.0.1:8787/v1.')
  const url = URL.parse(base)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(
      `--base must be an address that starts with http:// or https://, not ${JSON.stringify(base)}.`,
    )
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new UsageError(
      '--base must not contain a user, password, query or fragment. Put the key into the environment.',
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
    throw new UsageError(`--only accepts ${formatIds.join(', ')}, not ${JSON.stringify(wrong)}.`)
  return formatIds.filter((id) => names.includes(id))
}
