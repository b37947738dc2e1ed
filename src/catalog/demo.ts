import type { Connections } from '../db/connections.ts'
import type { SecretKeeper } from '../secrets/secret-key.ts'
import { applyCatalog } from './apply.ts'
import { channelEntry, type GatewayFile, groupEntry } from './gateway-file.ts'
import { changeRows, readGroups } from './queries.ts'

/**
 * The address of the demo channel. The host does not exist; the built-in demo upstream answers these calls.
 */
export const demoBaseUrl = 'http://tollgate-demo.internal'

/** The catalog of a gateway without a configuration, with channels that answer without a real model. */
const demoGatewayFile: GatewayFile = {
  revision: undefined,
  models: [
    {
      id: 'demo-chat',
      aliases: [],
      fallbacks: [],
      plainMembers: [],
      contextLength: 128_000,
      maxOutputTokens: 4096,
      price: {
        input: 100_000_000n,
        cacheRead: 10_000_000n,
        cacheWrite: 125_000_000n,
        output: 400_000_000n,
        reasoning: undefined,
        image: undefined,
        imageRates: [],
      },
      images: undefined,
      traits: undefined,
    },
    {
      id: 'demo-image',
      aliases: [],
      fallbacks: [],
      plainMembers: [],
      contextLength: undefined,
      maxOutputTokens: undefined,
      price: {
        input: undefined,
        cacheRead: undefined,
        cacheWrite: undefined,
        output: undefined,
        reasoning: undefined,
        image: 10_000_000n,
        imageRates: [{ size: undefined, quality: 'high', nano: 40_000_000n }],
      },
      images: {
        sizes: ['256x256', '512x512', '1024x1024', '1536x1024', '1024x1536'],
        qualities: ['low', 'medium', 'high'],
        backgrounds: ['opaque'],
        outputFormats: ['png'],
        imagesMax: 10,
        partialImagesMax: 3,
      },
      traits: undefined,
    },
  ],
  channels: [
    channelEntry.parse({
      name: 'demo',
      protocols: {
        'openai-chat': `${demoBaseUrl}/v1`,
        'openai-responses': `${demoBaseUrl}/v1`,
        'anthropic-messages': demoBaseUrl,
        gemini: `${demoBaseUrl}/v1beta`,
      },
      api_keys: [''],
      models: ['demo-chat'],
      allow_private_address: true,
    }),
    // A separate channel, because the other one speaks chat protocols and this model only generates images.
    channelEntry.parse({
      name: 'demo-images',
      protocols: { 'openai-images': `${demoBaseUrl}/v1` },
      api_keys: [''],
      models: ['demo-image'],
      allow_private_address: true,
    }),
  ],
  groups: [groupEntry.parse({ name: 'default' })],
  tenants: [],
}

/** Adds the demo to a database. Disables nothing, and leaves an existing group `default` unchanged. */
export async function applyDemo(connections: Pick<Connections, 'db'>, keeper: SecretKeeper): Promise<void> {
  await changeRows(connections, async (tx) => {
    const names = new Set((await readGroups(tx)).map((group) => group.name))
    const groups = demoGatewayFile.groups.filter((group) => !names.has(group.name))
    await applyCatalog(tx, { ...demoGatewayFile, groups }, keeper)
  })
}
