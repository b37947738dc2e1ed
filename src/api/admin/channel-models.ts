import { z } from 'zod'
import { writeAudit } from '../../access/audit-queries.ts'
import { GatewayError } from '../../canonical/error.ts'
import { boundAddresses } from '../../catalog/channel-connection.ts'
import { channelEntry } from '../../catalog/gateway-file.ts'
import { readAllRows } from '../../catalog/queries.ts'
import type { Channel } from '../../catalog/snapshot.ts'
import { unsavedChannel } from '../../catalog/unsaved-channel.ts'
import { clientAddressOf } from '../../http/client-address.ts'
import type { Gateway } from '../../pipeline/gateway.ts'
import { redactText } from '../../redaction/redact.ts'
import { everySecretOf } from '../../routing/credentials.ts'
import { askList, hasNoList, type ListBounds } from '../../upstream/model-lists/ask-list.ts'
import { type AdminChannelsContext, channelPath, foundChannel } from './channels.ts'
import { type AdminCall, type AdminEndpoint, adminEndpoint } from './endpoint.ts'
import { membersSchema } from './words.ts'

export interface AdminChannelModelsContext extends AdminChannelsContext, Pick<Gateway, 'upstreams'> {
  bounds: AdminChannelsContext['bounds'] & ListBounds
}

const asked = membersSchema(channelEntry, 'UpstreamModelsRequest', { optional: ['name', 'models'] })

const upstreamModels = z
  .object({
    outcome: z
      .enum(['listed', 'no_list', 'failed'])
      .describe('`no_list`: the upstream has no model list. `failed`: the reason is in `error`.'),
    protocol: z.string().nullable().describe('The protocol in which the list was read.'),
    models: z
      .array(
        z.object({
          id: z.string().describe("The upstream's name for the model."),
          context_length: z.int().nullable().describe('Null if the list does not state it.'),
          max_output_tokens: z.int().nullable(),
        }),
      )
      .describe('The models sorted by name, at most MODEL_LIST_NAMES_MAX.'),
    is_cut: z.boolean().describe('True if the upstream lists more models.'),
    status: z
      .int()
      .nullable()
      .describe(
        "The upstream's status if it refused the call. Null if it did not refuse or did not respond.",
      ),
    error: z.string().nullable().describe("What went wrong, with the upstream's own message, redacted."),
  })
  .meta({ id: 'UpstreamModels' })

const listing =
  'Reads the list with the first of the `api_keys` and saves nothing. Limited by MODEL_LIST_MS and MODEL_LIST_BYTES_MAX.'

/** Reads the models that an upstream reports, for an existing channel or one that is not saved yet. */
export function channelModelsEndpoints(context: AdminChannelModelsContext): AdminEndpoint[] {
  const { database, keeper, bounds, config } = context
  const rowsNow = () => database.reads.ask(({ db }) => readAllRows(db))
  return [
    adminEndpoint({
      method: 'POST',
      path: '/admin/v1/channels/upstream-models',
      area: 'catalog',
      summary: 'List the models of an upstream before its channel is created',
      description: `The body is that of a new channel, except that \`name\` and \`models\` are optional. ${listing}`,
      body: asked,
      answer: upstreamModels,
      async handle(call) {
        const channel = unsavedChannel(call.body, await rowsNow(), {
          bounds,
          keeper,
          privateAddresses: config.privateAddresses ?? [],
        })
        const { protocols, vendor = null } = channel
        await note(context, call, { id: channel.id, after: { protocols, vendor } })
        return { body: await listed(context, channel, call.signal) }
      },
    }),
    adminEndpoint({
      method: 'POST',
      path: '/admin/v1/channels/{id}/upstream-models',
      area: 'catalog',
      summary: 'List the models of the upstream of a channel',
      description: `The channel can be disabled. ${listing}`,
      params: channelPath,
      answer: upstreamModels,
      async handle(call) {
        const rows = await rowsNow()
        const { row, words } = foundChannel(rows, call.params.id, keeper)
        // A stored channel keeps its permitted addresses, whatever PRIVATE_ADDRESSES is now.
        const unsaved = unsavedChannel(words, rows, { bounds, keeper })
        const channel = row.isAddressBounded ? boundAddresses(unsaved) : unsaved
        await note(context, call, { id: row.id, name: row.name, after: { protocols: channel.protocols } })
        return { body: await listed(context, channel, call.signal) }
      },
    }),
  ]
}

/** Written before the call, because the call contains a credential. */
async function note(
  { database }: AdminChannelModelsContext,
  { actor, request, requestId }: AdminCall,
  of: { id: string; name?: string; after: Record<string, unknown> },
): Promise<void> {
  const source = {
    actor,
    address: clientAddressOf(request),
    userAgent: request.headers['user-agent']?.slice(0, 512) ?? null,
    requestId,
  }
  await database.admin.transact((tx) =>
    writeAudit(tx, source, { action: 'channel.list_models', resource: 'channel', ...of }),
  )
}

async function listed(
  { upstreams, bounds }: AdminChannelModelsContext,
  channel: Channel,
  signal: AbortSignal,
): Promise<z.output<typeof upstreamModels>> {
  try {
    const { protocol, models, isCut } = await askList(upstreams, bounds, channel, { turn: 0, signal })
    const sorted = [...models.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
    return {
      outcome: 'listed',
      protocol,
      models: sorted.map(({ name, contextLength = null, maxOutputTokens = null }) => ({
        ...{ id: name, context_length: contextLength, max_output_tokens: maxOutputTokens },
      })),
      is_cut: isCut,
      status: null,
      error: null,
    }
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return {
      outcome: hasNoList(error) ? 'no_list' : 'failed',
      protocol: null,
      models: [],
      is_cut: false,
      status: error.upstreamStatus ?? null,
      error: wordsOfFailure(error, everySecretOf(channel)),
    }
  }
}

/** Admins are allowed to see the host names in the cause of a broken connection. */
function wordsOfFailure({ message, details, cause }: GatewayError, secrets: readonly string[]): string {
  if (typeof details?.said === 'string') return `${message} It said: ${details.said}`
  return cause instanceof Error ? `${message} ${redactText(cause.message, secrets)}` : message
}
