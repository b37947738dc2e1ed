import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Identity } from '../access/identity.ts'
import { ownSecrets } from '../canonical/own-secrets.ts'
import { unlimited } from '../catalog/limit-columns.ts'
import type { Group, Snapshot } from '../catalog/snapshot.ts'
import { chat } from '../gateway/chat.ts'
import { modelEndpoints } from '../stages/endpoints.ts'
import type { Gateway } from '../stages/gateway.ts'
import { OfferTraits } from '../traits/offer-traits.ts'
import { probeTenant } from './probe-keys.ts'
import type { ProbedOffer } from './probed-offer.ts'

/** The gateway as one run sees it: a server on loopback, whose only model is the probed offer. */
export interface ProbeServer {
  /** Where the paths of the formats begin. */
  base: string
  key: string
  close(): Promise<void>
}

/**
 * Serve the endpoints of text for one run. The requests go the way of every request: they are journalled,
 * have rows, and their costs are held in the budget of the run's key. Only catalog and keys are others: one
 * offer, in one protocol, and one caller.
 */
export async function startProbeServer(
  gateway: Gateway,
  probed: ProbedOffer,
  identity: Identity,
): Promise<ProbeServer> {
  const key = `${ownSecrets.probe}${randomBytes(24).toString('hex')}`
  const snapshot = snapshotOf(gateway.catalog.snapshot, probed, identity)
  const own: Gateway = {
    ...gateway,
    get draining() {
      return gateway.draining
    },
    catalog: { snapshot },
    keys: { lookup: (secret) => (secret === key ? identity : undefined) },
  }
  const handlers = new Map(
    modelEndpoints.flatMap((endpoint) =>
      endpoint.kind === 'text' ? [[endpoint.path, chat(own, endpoint)] as const] : [],
    ),
  )
  const server = createServer((request, response) => {
    const handle = handlers.get(request.url ?? '')
    if (handle === undefined || request.method !== 'POST') {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}')
      return
    }
    void handle(request, response)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    base: `http://127.0.0.1:${port}/v1`,
    key,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/**
 * The catalog with nothing in it but the offer. Nothing is known of it: the probe asks the upstream, and not
 * our tables.
 */
function snapshotOf(
  { revision }: Snapshot,
  { channel, model, offer, name, protocol, upstreamModel }: ProbedOffer,
  { tenantId, groupId }: Identity,
): Snapshot {
  const only = { ...channel, protocols: { [protocol]: channel.protocols[protocol] } }
  const traits = new OfferTraits({ vendor: undefined, stated: [], verdicts: [] })
  const probed = {
    ...model,
    id: name,
    aliases: [],
    fallbacks: [],
    offers: [{ ...offer, channel: only, upstreamModel, traits }],
  }
  return {
    revision,
    models: new Map([[name, probed]]),
    anyModel: undefined,
    channels: new Map([[channel.id, only]]),
    groups: new Map([[groupId, groupOf(groupId)]]),
    soleTenants: new Map(),
    tenants: new Map([
      [tenantId, { id: tenantId, name: probeTenant, disabled: false, limited: false, limits: unlimited }],
    ]),
  }
}

const groupOf = (id: string): Group => ({
  id,
  name: probeTenant,
  models: ['*'],
  channels: ['*'],
  priceMultiplier: '1',
  imagePriority: 0,
  captureAnswers: false,
  keptDays: 0,
  compactModel: undefined,
  clientGone: { policy: 'abort', seconds: 0, unseen: 'estimate' },
  limits: unlimited,
  totalLimits: unlimited,
  budgeted: false,
})
