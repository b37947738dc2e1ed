/** The page that uses a link. The token comes after the `#`, which browsers do not send. */
export function pageOfLink(gatewayUrl: string, token: string): string {
  return `${gatewayUrl}/console/link#${token}`
}
