import type { Target } from '../routing/candidates.ts'
import type { Clock } from '../runtime/clock.ts'
import { awsSigner } from './aws/aws-signer.ts'
import type { AwsIdentities } from './aws/identities.ts'
import { noHeaders, type Signer, type SignerOf } from './signer.ts'

/** Returns what chooses by the setting `auth` of a channel. */
export function signersWith(identities: AwsIdentities, clock: Clock): SignerOf {
  return ({ channel: { connection }, protocol }) => {
    const auth = connection?.auth
    if (auth === undefined) return byProtocol[protocol]
    switch (auth.kind) {
      case 'bearer':
        return bearer
      case 'api-key':
        return apiKey[protocol]
      case 'sigv4':
        return awsSigner(auth, identities, clock)
    }
  }
}

const bearer = secretIn('authorization', 'Bearer ')
/**
 * The headers that vendors read keys from. Azure has one of its own:
 * https://learn.microsoft.com/en-us/azure/foundry/openai/api-version-lifecycle
 */
const apiKey = {
  'openai-chat': secretIn('api-key'),
  'openai-responses': secretIn('api-key'),
  'openai-images': secretIn('api-key'),
  'anthropic-messages': secretIn('x-api-key'),
  gemini: secretIn('x-goog-api-key'),
} satisfies Record<Target['protocol'], Signer>
const byProtocol: Readonly<Record<Target['protocol'], Signer>> = {
  ...apiKey,
  'openai-chat': bearer,
  'openai-responses': bearer,
  'openai-images': bearer,
}

/** An empty secret results in no header, because some upstreams require no credential. */
function secretIn(header: string, scheme = ''): Signer {
  return ({ credential: { secret } }) => (secret === '' ? noHeaders : [header, scheme + secret])
}
