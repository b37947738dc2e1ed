import { z } from 'zod'
import { blockChannel, unblockChannel } from '../../catalog/queries.ts'
import { channelAnswer, channelJson } from './channel-json.ts'
import { type AdminChannelsContext, audited, channelPath, channelToChange, readAgain } from './channels.ts'
import { type AdminChange, type AdminEndpoint, adminChange } from './endpoint.ts'
import { blockReason, blockWithinMs } from './key-blocks.ts'

/**
 * Endpoints to take any channel out of use, also one of gateway.yaml, and to bring it back. All processes
 * follow within a second.
 */
export function channelBlocksEndpoints(context: AdminChannelsContext): AdminEndpoint[] {
  return [
    adminChange({
      method: 'POST',
      path: '/admin/v1/channels/{id}/block',
      area: 'catalog',
      ifMatch: 'channel',
      withinMs: blockWithinMs,
      summary: 'Block a channel, so that it receives no requests',
      description:
        'Also blocks a channel that gateway.yaml manages: neither the file nor an import lifts the block, also where they remove the channel and add it again, or give it another name. Running requests can finish. A channel that is blocked already keeps its reason.',
      params: channelPath,
      body: z.strictObject({ reason: blockReason }).meta({ id: 'ChannelBlock' }),
      answer: channelAnswer,
      change: async (call) =>
        await changeBlock(context, call, 'block', async (id) => {
          await blockChannel(call.tx, id, { reason: call.body.reason, by: call.actor.name })
        }),
    }),
    adminChange({
      method: 'POST',
      path: '/admin/v1/channels/{id}/unblock',
      area: 'catalog',
      ifMatch: 'channel',
      withinMs: blockWithinMs,
      summary: 'Lift the block of a channel',
      description: 'The channel then receives requests if it is enabled.',
      params: channelPath,
      answer: channelAnswer,
      change: async (call) =>
        await changeBlock(context, call, 'unblock', async (id) => {
          await unblockChannel(call.tx, id)
        }),
    }),
  ]
}

async function changeBlock(
  context: AdminChannelsContext,
  { tx, params, requireMatch, audit }: AdminChange & { params: z.output<typeof channelPath> },
  verb: 'block' | 'unblock',
  change: (id: string) => Promise<void>,
) {
  const { stored } = await channelToChange(tx, context, params.id, requireMatch, { ofFile: true })
  await change(stored.row.id)
  return await audited(audit, verb, channelJson(stored), await readAgain(tx, context, stored.row.id))
}
