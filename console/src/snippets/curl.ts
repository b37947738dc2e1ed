import { type Snippet, type SnippetSource, shellWord } from './snippet.ts'

/** The request from a POSIX shell, as the format's vendor documents it. */
export function curlSnippet({ origin, endpoint, request, secret }: SnippetSource): Snippet {
  const isStream = request.stream === true
  const authorization =
    secret === undefined
      ? '"authorization: Bearer $TOLLGATE_KEY"'
      : shellWord(`authorization: Bearer ${secret}`)
  const headers = [
    authorization,
    ...(endpoint === '/v1/messages' ? [`'anthropic-version: 2023-06-01'`] : []),
    `'content-type: application/json'`,
  ]
  const text = [
    `curl ${isStream ? '-N ' : ''}${shellWord(origin + endpoint)} \\`,
    ...headers.map((header) => `  -H ${header} \\`),
    `  -d ${shellWord(JSON.stringify(request, null, 2))}`,
  ].join('\n')
  return { id: 'curl', title: 'curl', text }
}
