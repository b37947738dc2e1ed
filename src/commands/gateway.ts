import { readFileSync } from 'node:fs'
import { CommandError, exitCodes, wrongUsage } from './exit-codes.ts'
import { value } from './options.ts'
import type { Streams } from './terminal.ts'

const defaultUrl = 'http://127.0.0.1:8787'
const answerMs = 60_000

/** The options of every command that calls the admin API of a running gateway. */
export const gatewayOptions = {
  url: value('URL', `the gateway's address; default: TOLLGATE_URL, else ${defaultUrl}`),
  tokenFile: value(
    'FILE',
    'a file that contains an API token or ADMIN_TOKEN, or - for standard input; default: TOLLGATE_TOKEN',
    { completes: 'files' },
  ),
}

interface Caller {
  options: { url: string | undefined; tokenFile: string | undefined }
  env: Streams['env']
  signal: AbortSignal
}

interface Call {
  query?: URLSearchParams
  body?: unknown
  /** The gateway makes a change with the same key only once. */
  idempotencyKey?: string
}

/** A client for the admin API of a running gateway. */
export class GatewayClient {
  readonly #url: string
  readonly #token: string
  readonly #signal: AbortSignal

  /** Throws a CommandError if the address or the token is invalid. */
  constructor({ options, env, signal }: Caller) {
    this.#url = urlOf(options.url ?? env.TOLLGATE_URL ?? defaultUrl)
    this.#token = tokenOf(options.tokenFile, env)
    this.#signal = signal
  }

  get url(): string {
    return this.#url
  }

  /** Returns the JSON of the response, or rejects with a CommandError. `path` is relative to `/admin/v1/`. */
  async call(method: 'GET' | 'POST' | 'PATCH', path: string, call: Call = {}): Promise<unknown> {
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(answerMs)])
    const answer = await this.#fetch(method, path, { ...call, signal, accept: 'application/json' })
    return await answer.json().catch((cause: unknown) => {
      throw this.#lost(cause)
    })
  }

  /** Opens a stream of events, or rejects with a CommandError. */
  async stream(path: string, query: URLSearchParams, lastEventId: string | undefined): Promise<Response> {
    const after = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
    return await this.#fetch('GET', path, {
      query,
      signal: this.#signal,
      accept: 'text/event-stream',
      headers: after,
    })
  }

  async #fetch(
    method: string,
    path: string,
    {
      query,
      body,
      idempotencyKey,
      signal,
      accept,
      headers = {},
    }: Call & { signal: AbortSignal; accept: string; headers?: Record<string, string> },
  ): Promise<Response> {
    const asked = query === undefined || query.size === 0 ? '' : `?${query}`
    const answer = await fetch(`${this.#url}/admin/v1/${path}${asked}`, {
      method,
      signal,
      redirect: 'manual',
      headers: {
        authorization: `Bearer ${this.#token}`,
        accept,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch((cause: unknown) => {
      throw this.#lost(cause)
    })
    if (!answer.ok) throw await refusal(answer, this.#url)
    return answer
  }

  #lost(cause: unknown): CommandError {
    const reasons: string[] = []
    for (let at = cause; at instanceof Error; at = at.cause) reasons.push(at.message)
    const reason = reasons.filter((text) => text !== 'fetch failed').join(': ')
    return new CommandError(
      exitCodes.unreachable,
      `the gateway at ${this.#url} does not respond: ${reason}. Check that it is running and that --url is correct.`,
      { cause },
    )
  }
}

function urlOf(text: string): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw wrongUsage(
      `--url must be an address that starts with http:// or https://, not ${JSON.stringify(text)}`,
    )
  if (url.username !== '' || url.password !== '')
    throw wrongUsage('--url must not contain a user or password. Set TOLLGATE_TOKEN to the token instead.')
  return `${url.origin}${url.pathname.replace(/\/(admin(\/v1)?|v1)?\/*$/, '')}`
}

/** The token is never an argument, because other users of the machine could see it. */
function tokenOf(file: string | undefined, env: Streams['env']): string {
  const token = (file === undefined ? env.TOLLGATE_TOKEN : readToken(file))?.trim() ?? ''
  if (token === '')
    throw wrongUsage(
      'an API token is required. Set TOLLGATE_TOKEN to an API token or to ADMIN_TOKEN, or name a file with --token-file. You can create tokens in the console, under "account".',
    )
  if (!/^[\x21-\x7e]+$/.test(token))
    throw wrongUsage('the token contains characters that are not allowed in a header. Copy it again.')
  return token
}

function readToken(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (cause) {
    throw wrongUsage(`--token-file: cannot read ${file}`, cause)
  }
}

/** Converts the gateway's error response. https://www.rfc-editor.org/rfc/rfc9457 */
async function refusal(answer: Response, url: string): Promise<CommandError> {
  const problem: unknown = await answer.json().catch(() => undefined)
  const isOurs = typeof problem === 'object' && problem !== null && 'detail' in problem
  const { status } = answer
  if (!isOurs)
    return new CommandError(
      exitCodes.unreachable,
      `${url} responded with ${status}, but not like a Tollgate gateway. Check --url.`,
    )
  const detail = String(problem.detail)
  switch (status) {
    case 400:
      return new CommandError(exitCodes.usage, detail)
    case 401:
      return new CommandError(
        exitCodes.refused,
        `${url} did not accept the token. Set TOLLGATE_TOKEN to an API token or the ADMIN_TOKEN of that gateway.`,
      )
    case 429:
    case 503:
      return new CommandError(exitCodes.unreachable, detail)
    default:
      // After an internal error of the gateway, it is unknown whether the change was made.
      return new CommandError(status >= 500 ? exitCodes.unreachable : exitCodes.refused, detail)
  }
}
