/** The page that uses a link of the API. The token stands behind the `#`, which browsers do not send. */
export function pageOfLink(gatewayUrl: string, apiUrl: string): string {
  const token = /tgl_[\w-]+/.exec(apiUrl)?.[0] ?? ''
  return `${gatewayUrl}/console/link#${token}`
}
