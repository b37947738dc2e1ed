import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Identity } from '../../access/identity.ts'
import { ownSecrets } from '../../canonical/own-secrets.ts'
import { chat } from '../../gateway/chat.ts'
import type { ImageGateway } from '../../images/image-gateway.ts'
import { images } from '../../images/images.ts'
import { modelEndpoints } from '../../stages/endpoints.ts'
import { overheard, type WireListener } from './wires.ts'

/** The gateway for one run, on loopback. */
export interface PlayServer {
  origin: string
  /** Only this run has it. */
  key: string
  /** The key, and the secrets of the channels that were called: no text may show them. */
  secrets: readonly string[]
  close(): Promise<void>
}

/**
 * Serve one run. Its request goes the way of all: limits, money, routing, the row. Only the look-up of the
 * key differs: the run has a secret of its own for an identity whose real secret no one knows. `publicUrl`:
 * where links to images begin. A worker makes the images, so `wires` do not see it.
 */
export async function startPlayServer(
  gateway: ImageGateway,
  identity: Identity,
  publicUrl: string,
  wires: WireListener,
): Promise<PlayServer> {
  const key = `${ownSecrets.playground}${randomBytes(24).toString('hex')}`
  const secrets = [key]
  // The request comes from loopback, wherever the admin is.
  const caller: Identity = { ...identity, allowedCidrs: undefined }
  const own: ImageGateway = {
    ...gateway,
    publicUrl,
    get draining() {
      return gateway.draining
    },
    keys: { lookup: (secret) => (secret === key ? caller : undefined) },
    upstreams: overheard(gateway.upstreams, wires, secrets),
  }
  const handlers = new Map(
    modelEndpoints.map((endpoint) => [
      endpoint.path,
      endpoint.kind === 'image' ? images(own, endpoint) : chat(own, endpoint),
    ]),
  )
  const server = createServer((request, response) => {
    const handle = handlers.get(request.url ?? '')
    if (handle === undefined) response.writeHead(404).end()
    else void handle(request, response)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    key,
    secrets,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
