import { type Bed, makeBed } from './bed.ts'
import { type Gateway, type GatewayOptions, startGateway } from './gateway.ts'
import { gatewayYaml } from './gateway-yaml.ts'

/** One whose Tollgate runs inside the process of the test. */
export interface Testbed extends Bed {
  tollgate: Gateway
}

export interface TestbedOptions extends Pick<GatewayOptions, 'env' | 'clock' | 'onServer'> {
  yaml?: (upstreamUrl: string) => string
}

export async function startTestbed({
  yaml = gatewayYaml,
  ...options
}: TestbedOptions = {}): Promise<Testbed> {
  return await makeBed(({ databaseUrl, upstreamUrl }) =>
    startGateway({ databaseUrl, gatewayYaml: yaml(upstreamUrl), ...options }),
  )
}
