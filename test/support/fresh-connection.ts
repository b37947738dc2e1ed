import { type IncomingHttpHeaders, request } from 'node:http'

/**
 * One call on a new connection. Where several processes share the port, the kernel chooses one of them anew. `onData` is called with the
 * status for each piece of the answer. Rejects when `signal` aborts it.
 */
export function callAnew(
  url: string,
  options: {
    method?: string
    headers?: Record<string, string>
    body?: string
    signal?: AbortSignal
    onData?: (status: number) => void
  } = {},
): Promise<{ status: number; headers: IncomingHttpHeaders; text: string }> {
  const { body, onData, ...rest } = options
  return new Promise((resolve, reject) => {
    request(url, { ...rest, agent: false })
      .on('response', (answer) => {
        let text = ''
        answer
          .setEncoding('utf8')
          .on('data', (more: string) => {
            text += more
            onData?.(answer.statusCode ?? 0)
          })
          .on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }))
          .on('error', reject)
      })
      .on('error', reject)
      .end(body)
  })
}
