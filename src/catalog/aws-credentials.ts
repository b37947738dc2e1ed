import type { ChannelAuth } from '../db/settings/auth-settings.ts'

/** The key of a user or a session of Amazon's. */
export interface AwsKey {
  accessKeyId: string
  secretAccessKey: string
  sessionToken: string | undefined
}

/**
 * Reads an entry of `api_keys` of a channel with `sigv4`. Undefined if it is none. No part of a key contains
 * a colon: https://docs.aws.amazon.com/STS/latest/APIReference/API_Credentials.html, read 2026-11-30
 */
export function readAwsKey(credential: string): AwsKey | undefined {
  const [, accessKeyId, secretAccessKey, sessionToken] =
    /^(\w{16,128}):([A-Za-z0-9/+=]{16,256})(?::([A-Za-z0-9/+=]{16,7000}))?$/.exec(credential) ?? []
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined
  return { accessKeyId, secretAccessKey, sessionToken }
}

/** The part of a signature's scope that says for which service it is valid. */
export interface AwsScope {
  region: string
  service: string
}

/**
 * Returns the scope for requests to a base URL: what is set, or what its host says. Undefined if neither
 * does. https://docs.aws.amazon.com/bedrock/latest/userguide/endpoints.html, read 2026-11-30; that Mantle has
 * a name of its own: https://github.com/BerriAI/litellm/issues/31475
 */
export function awsScopeOf(
  auth: Pick<ChannelAuth, 'region' | 'service'>,
  baseUrl: string,
): AwsScope | undefined {
  const { hostname } = new URL(baseUrl)
  const [, , runtime, runtimeRegion] =
    /^(vpce-[a-z0-9-]+\.)?(bedrock-runtime(?:-fips)?)\.([a-z0-9-]+)\.(?:vpce\.)?(?:amazonaws\.com(?:\.cn)?|api\.aws)$/.exec(
      hostname,
    ) ?? []
  const [, , mantle, mantleRegion] =
    /^(vpce-[a-z0-9-]+\.)?(bedrock-mantle)\.([a-z0-9-]+)\.(?:vpce\.amazonaws\.com|api\.aws)$/.exec(
      hostname,
    ) ?? []
  const region = auth.region ?? runtimeRegion ?? mantleRegion
  const service = auth.service ?? (runtime !== undefined ? 'bedrock' : mantle)
  return region === undefined || service === undefined ? undefined : { region, service }
}
