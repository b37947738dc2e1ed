import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freeKey } from '../support/gateway-yaml.ts'
import { notingFetch } from '../support/loop.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import {
  expectTurns,
  loopClients,
  loopModels,
  loopUpstreams,
  loopYaml,
  thinksOnAfterTools,
} from '../support/tool-loops.ts'
import { startVendor, type Vendor } from '../support/vendor/vendor.ts'

let bed: Testbed
let vendor: Vendor

beforeAll(async () => {
  vendor = await startVendor({ tokenDelayMs: 0 })
  bed = await startTestbed({ yaml: () => loopYaml(vendor.url) })
})
afterAll(async () => {
  await bed.close()
  await vendor.close()
})

describe.each(Object.entries(loopClients))('%s', (_name, client) => {
  describe.each(loopModels)('%s', (model) => {
    test.each([
      ['whole', false],
      ['streamed', true],
    ] as const)('runs a loop of three turns with two tools side by side, %s', async (_how, stream) => {
      const { fetch, requestIds } = notingFetch()
      const turns = await client.loop({ origin: bed.tollgate.url, apiKey: freeKey, model, stream, fetch })

      expectTurns(client, model, turns)

      expect(requestIds).toHaveLength(3)
      for (const [at, id] of requestIds.entries()) {
        const row = await bed.row(id)
        expect(row).toMatchObject({
          outcome: 'succeeded',
          client_protocol: client.protocol,
          upstream_protocol: loopUpstreams[model],
          channel: model,
          stream,
          usage_source: 'upstream',
        })
        expect(Number(row.reasoning_tokens) > 0).toBe(at === 0 || thinksOnAfterTools(client, model))
      }
    })
  })
})
