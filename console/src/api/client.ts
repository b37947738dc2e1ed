import createClient from 'openapi-fetch'
import type { components, paths } from './openapi.ts'

/** Every named shape of /openapi.json, such as `Schema<'LogRow'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name]

/** Calls of the gateway that served this page, with the cookie of the session. */
export const api = createClient<paths>({ baseUrl: '' })

/** An answer of the gateway that is an error, or no answer at all (`status` 0). */
export class ApiError extends Error {
  readonly status: number
  /** A word that software may act on, such as `conflict`. */
  readonly code: string
  readonly title: string
  /** Of the call: the gateway's own log has it. */
  readonly requestId: string | undefined
  /** Why, as docs/reference/reasons.md lists it. */
  readonly reason: string | undefined
  /** The wrong fields: a JSON pointer of the body, and what is wrong. */
  readonly fields: readonly { pointer: string; detail: string }[]

  /** `headers`: of the answer. */
  constructor(status: number, body: unknown, headers?: Headers) {
    const { title, detail, code, instance, errors } = (isRecord(body) ? body : {}) as Partial<
      Schema<'Problem'>
    >
    super(
      status === 412
        ? 'Somebody else has changed it since you read it. Nothing was done.'
        : (detail ??
            `The gateway, or a proxy before it, answered with the status ${status} and no words. Try again; if it stays so, the log of the gateway's process says why.`),
    )
    this.name = 'ApiError'
    this.status = status
    this.code = code ?? (status === 0 ? 'no_answer' : 'unknown')
    this.title =
      status === 412 ? 'Changed meanwhile' : (title ?? (status === 0 ? 'No answer' : `Status ${status}`))
    this.requestId = instance?.replace('urn:uuid:', '') ?? headers?.get('x-request-id') ?? undefined
    this.reason = headers?.get('x-tollgate-reason') ?? undefined
    this.fields = errors ?? []
  }
}

/** The error of an answer that is none of the wanted ones. */
export function errorOf(
  { status, url, headers }: Pick<Response, 'status' | 'url' | 'headers'>,
  body: unknown,
): ApiError {
  // A sign-in that is refused has words of its own. Those of other paths are for programs.
  const isEnded = status === 401 && !url.endsWith('/admin/v1/session')
  const told = isEnded && isRecord(body) ? { ...body, ...ended } : body
  return new ApiError(status, told, headers)
}

/** What a page gets when its session has ended, was ended, or has lost its user. */
const ended = {
  code: 'session_ended',
  title: 'Your session has ended',
  detail: 'Sign in again, in another tab if something here is not saved yet, and then try again.',
}

export function isSessionEnded(error: unknown): boolean {
  return error instanceof ApiError && error.code === ended.code
}

/** What a call of `api` resolves with. */
interface Answer<Data> {
  data?: Data
  error?: unknown
  response: Response
}

/** No answer at all came. */
export function unreachable(): ApiError {
  return new ApiError(0, {
    detail: 'The gateway does not answer. Is it running, and does the network reach it? Then try again.',
  })
}

/** Whether the gateway answers at all. */
export function isReachable(): Promise<boolean> {
  return fetch('/site/icon', { method: 'HEAD', cache: 'no-store' }).then(
    () => true,
    () => false,
  )
}

/** The data of a call of `api`. Throws `ApiError` for every other answer, and where there is none. */
export async function ask<Data>(call: Promise<Answer<Data>>): Promise<Data> {
  const answer = await call.catch((cause: unknown) => {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause
    throw unreachable()
  })
  if (!answer.response.ok) throw errorOf(answer.response, answer.error)
  return answer.data as Data
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
