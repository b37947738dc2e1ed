import { applyGatewayFile } from '../../src/access/apply-gateway-file.ts'
import type { GeneratedKey } from '../../src/access/apply-tenants.ts'
import { gatewaySource } from '../../src/catalog/gateway-source.ts'
import type { Connections } from '../../src/db/connections.ts'
import type { SecretKeeper } from '../../src/secrets/secret-key.ts'

/** Apply a gateway.yaml with this text, as a start does. Returns the keys that it generated. */
export async function applyYaml(
  database: Pick<Connections, 'db'>,
  text: string,
  keeper: SecretKeeper,
  env: Record<string, string> = {},
): Promise<GeneratedKey[]> {
  const source = gatewaySource(text, { path: 'gateway.yaml', env })
  const outcome = await applyGatewayFile(database, source, keeper)
  return outcome.kind === 'applied' ? outcome.generated : []
}
