export const adminToken = 'an-admin-token-for-tests'

export interface AdminAnswer {
  status: number
  body: Record<string, unknown>
  etag: string
  /** Of an error. */
  reason: string | null
  text: string
}

/** Calls the admin API of the Tollgate at `url` with ADMIN_TOKEN. Paths go on after `/admin/v1/`. */
export function operatorClient(url: string) {
  return async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<AdminAnswer> => {
    const answer = await fetch(`${url}/admin/v1/${path}`, {
      method,
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return {
      status: answer.status,
      body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
      etag: answer.headers.get('etag') ?? '',
      reason: answer.headers.get('x-tollgate-reason'),
      text,
    }
  }
}

/** The rows of a list. */
export function rowsOf({ body }: AdminAnswer): Record<string, unknown>[] {
  return Array.isArray(body.data) ? body.data : []
}
