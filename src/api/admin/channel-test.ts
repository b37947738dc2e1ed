import { z } from 'zod'
import { invalid } from '../../canonical/field-error.ts'
import { readAllRows } from '../../catalog/queries.ts'
import { type ChannelTest, offersToTest, type TestGateway, testOffer } from '../../probes/test-channel.ts'
import { channelPath, foundChannel } from './channels.ts'
import { type AdminEndpoint, adminEndpoint } from './endpoint.ts'

const testRequest = z
  .strictObject({
    model: z
      .string()
      .max(256)
      .optional()
      .describe('The model to use. Default: the first model that the channel offers.'),
    protocol: z
      .string()
      .max(64)
      .optional()
      .describe('The protocol to use. Default: one request in each protocol that the channel speaks.'),
  })
  .meta({ id: 'ChannelTestRequest' })

const testResult = z
  .object({
    channel: z.string(),
    ok: z.boolean().describe('Whether all requests succeeded.'),
    results: z.array(
      z.object({
        protocol: z.string(),
        model: z.string(),
        upstream_model: z.string(),
        ok: z.boolean(),
        status: z.int().nullable().describe("The upstream's status. Null if it did not respond."),
        latency_ms: z.int(),
        first_byte_ms: z.int().nullable(),
        request_id: z
          .string()
          .nullable()
          .describe('The id of the row in the usage log, which belongs to the tenant tollgate-probes.'),
        first_bytes: z.string().describe('The first 400 characters of the response, redacted.'),
        error: z.string().nullable().describe("The upstream's error message, redacted."),
      }),
    ),
  })
  .meta({ id: 'ChannelTest' })

/** Sends one small real request to a channel. */
export function channelTestEndpoint(gateway: TestGateway): AdminEndpoint {
  return adminEndpoint({
    method: 'POST',
    path: '/admin/v1/channels/{id}/test',
    area: 'probes',
    summary: 'Test a channel with a small request',
    description:
      'Sends a real request for at most 16 tokens in each text protocol of the channel and responds within a minute. The channel can be disabled or blocked. No tenant is charged.',
    params: channelPath,
    body: testRequest,
    answer: testResult,
    async handle({ params: { id }, body: { model, protocol }, signal }) {
      const { keeper } = gateway
      const rows = await gateway.database.reads.ask(({ db }) => readAllRows(db))
      const { row, offers } = foundChannel(rows, id, keeper)
      const first = offers.map(({ modelId }) => modelId).find((name) => name !== '*')
      const asked = model ?? first
      if (asked === undefined)
        throw invalid('model', 'is required, because the channel passes any name through')
      const tested = offersToTest(rows, row, { model: asked, protocol, keeper })
      if (tested.length === 0) throw invalid('protocol', 'the channel does not speak a text protocol')
      const results: ChannelTest[] = []
      for (const offer of tested) results.push(await testOffer(gateway, offer, signal))
      return {
        body: { channel: row.name, ok: results.every(({ ok }) => ok), results: results.map(resultJson) },
      }
    },
  })
}

function resultJson(one: ChannelTest): z.output<typeof testResult>['results'][number] {
  return {
    protocol: one.protocol,
    model: one.model,
    upstream_model: one.upstreamModel,
    ok: one.ok,
    status: one.status,
    latency_ms: one.latencyMs,
    first_byte_ms: one.firstByteMs,
    request_id: one.requestId,
    first_bytes: one.firstBytes,
    error: one.error,
  }
}
