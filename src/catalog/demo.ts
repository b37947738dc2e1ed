import type { Connections } from '../db/connections.ts'
import type { SecretKeeper } from '../secrets/secret-key.ts'
import { applyCatalog } from './apply.ts'
import { channelEntry, type GatewayFile, groupEntry } from './gateway-file.ts'
import { modelEntry } from './model-entry.ts'
import { changeRows, readGroups } from './queries.ts'

/**
 * The address of the demo channel. The host does not exist; the built-in demo upstream answers these calls.
 */
export const demoBaseUrl = 'http://tollgate-demo.internal'

/** The catalog of a gateway without a configuration, with channels that answer without a real model. */
const demoGatewayFile = (): GatewayFile => ({
  revision: undefined,
  models: [
    modelEntry.parse({
      id: 'demo-chat',
      context_length: 128_000,
      max_output_tokens: 4096,
      price: { input: '0.1', cache_read: '0.01', cache_write: '0.125', output: '0.4' },
    }),
    modelEntry.parse({
      id: 'demo-image',
      price: { image: '0.01', images: [{ quality: 'high', usd: '0.04' }] },
      images: {
        sizes: ['256x256', '512x512', '1024x1024', '1536x1024', '1024x1536'],
        qualities: ['low', 'medium', 'high'],
        backgrounds: ['opaque'],
        output_formats: ['png'],
        images_max: 10,
        partial_images_max: 3,
      },
    }),
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
})

/** Adds the demo to a database. Disables nothing, and leaves an existing group `default` unchanged. */
export async function applyDemo(connections: Pick<Connections, 'db'>, keeper: SecretKeeper): Promise<void> {
  await changeRows(connections, async (tx) => {
    const names = new Set((await readGroups(tx)).map((group) => group.name))
    const demo = demoGatewayFile()
    const groups = demo.groups.filter((group) => !names.has(group.name))
    await applyCatalog(tx, { ...demo, groups }, keeper)
  })
}
