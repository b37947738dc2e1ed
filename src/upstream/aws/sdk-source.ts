import type { AwsKey } from '../../catalog/aws-credentials.ts'
import type { AssumedRole, AwsIdentity, AwsSource } from './identities.ts'

/** Loaded when first used: it takes some 15 MB and a third of a second. */
const sdk = () => import('@aws-sdk/credential-providers')

/**
 * Amazon's own chain of credentials. Its addresses are those of Amazon, or those that Amazon's environment
 * variables name: they are the only inner addresses that are called without a channel's
 * `allow_private_address`, and no setting of a channel reaches them.
 */
export const sdkSource: AwsSource = {
  async ambient(region) {
    const { fromNodeProviderChain } = await sdk()
    // Made anew, because a chain that remembers would answer with the old key once more.
    const chain = fromNodeProviderChain({ clientConfig: clientOf(region), timeout: 1_000, maxRetries: 2 })
    const found = await chain()
    return identityOf(found, originOf(found))
  },
  async assume(role: AssumedRole, key: AwsKey) {
    const { fromTemporaryCredentials } = await sdk()
    const { accessKeyId, secretAccessKey, sessionToken } = key
    const assumed = fromTemporaryCredentials({
      masterCredentials: {
        accessKeyId,
        secretAccessKey,
        ...(sessionToken !== undefined && { sessionToken }),
      },
      params: {
        RoleArn: role.roleArn,
        RoleSessionName: role.sessionName,
        ...(role.externalId !== undefined && { ExternalId: role.externalId }),
      },
      clientConfig: clientOf(role.region),
    })
    return identityOf(await assumed(), `the role ${role.roleArn}`)
  },
}

function clientOf(region: string) {
  return { region, maxAttempts: 2, requestHandler: { connectionTimeout: 2_000, requestTimeout: 4_000 } }
}

interface SdkIdentity {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
  expiration?: Date
  /** Has a member for each provider that took part. */
  $source?: object
}

function identityOf(found: SdkIdentity, origin: string): AwsIdentity {
  const { accessKeyId, secretAccessKey, sessionToken, expiration } = found
  return { accessKeyId, secretAccessKey, sessionToken, expiresAt: expiration?.getTime(), origin }
}

const origins = [
  ['CREDENTIALS_ENV_VARS_STS_WEB_ID_TOKEN', 'the token in AWS_WEB_IDENTITY_TOKEN_FILE'],
  ['CREDENTIALS_ENV_VARS', 'the environment'],
  ['CREDENTIALS_HTTP', 'the container'],
  ['CREDENTIALS_PROFILE', 'a profile of the configuration of AWS'],
] as const

function originOf({ $source = {} }: SdkIdentity): string {
  const marks = Object.keys($source)
  const known = origins.find(([mark]) => marks.some((one) => one.startsWith(mark)))
  return known?.[1] ?? 'the metadata service of the instance'
}
