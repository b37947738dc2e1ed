import { type Bed, makeBed } from './bed.ts'
import { gatewayYaml, secretKey } from './gateway-yaml.ts'
import { startTollgate, type TollgateProcess } from './tollgate.ts'

/** A bed whose Tollgate has a process of its own: for tests that kill or stop it, count its processes or read what it prints. */
export interface ProcessTestbed extends Bed {
  tollgate: TollgateProcess
}

export async function startProcessTestbed(
  options: { env?: Record<string, string>; yaml?: (upstreamUrl: string) => string; nodeArgs?: string[] } = {},
): Promise<ProcessTestbed> {
  return await makeBed(({ databaseUrl, upstreamUrl }) =>
    startTollgate({
      databaseUrl,
      gatewayYaml: (options.yaml ?? gatewayYaml)(upstreamUrl),
      env: { SECRET_KEY: secretKey, SHIP_INTERVAL_MS: '20', ...options.env },
      ...(options.nodeArgs === undefined ? {} : { nodeArgs: options.nodeArgs }),
    }),
  )
}
