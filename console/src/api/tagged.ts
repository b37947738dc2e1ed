import { ApiError, ask } from './client.ts'

/** A resource as it was read, with the ETag that a change of it sends as `if-match`. */
export interface Tagged<Data> {
  data: Data
  etag: string | undefined
}

/** Like `ask`, with the ETag of the answer. */
export async function askTagged<Data>(
  call: Promise<{ data?: Data; error?: unknown; response: Response }>,
): Promise<Tagged<Data>> {
  let etag: string | undefined
  const data = await ask(
    call.then((answer) => {
      etag = answer.response.headers.get('etag') ?? undefined
      return answer
    }),
  )
  return { data, etag }
}

export interface IfMatch {
  'if-match'?: string
}

/** The header of a change that must not undo what somebody else has changed meanwhile. */
export function ifMatch(etag: string | undefined): IfMatch {
  return etag === undefined ? {} : { 'if-match': etag }
}

export function isChangedMeanwhile(error: unknown): boolean {
  return error instanceof ApiError && error.status === 412
}
