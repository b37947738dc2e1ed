import { counted } from '../canonical/counted.ts'
import type { GatewayFile } from '../catalog/gateway-file.ts'
import { readGatewaySource } from '../catalog/gateway-source.ts'
import type { Config } from '../config.ts'
import { type Finding, findingsOf, inShell, messagesIn } from './finding.ts'

const { well, wrong } = findingsOf('gateway.yaml')

/** Read the file as a start would. `file` is undefined where it is absent, or a start would refuse it. */
export function gatewayFileFindings(
  { gatewayConfig: path, bounds }: Config,
  env: Readonly<Record<string, string | undefined>>,
): { findings: Finding[]; file: GatewayFile | undefined } {
  if (path === undefined) {
    const what = 'GATEWAY_CONFIG is not set: the database applies, or the demo channel'
    return { findings: [well('gateway_yaml.none', what)], file: undefined }
  }
  try {
    const file = readGatewaySource(path, { ...env }, bounds).parse()
    const { models, channels, groups, tenants } = file
    const what = `${path}: ${[count(models, 'model'), count(channels, 'channel'), count(groups, 'group'), count(tenants, 'tenant')].join(', ')}`
    return { findings: [well('gateway_yaml.read', what)], file }
  } catch (error) {
    return { findings: faultsOf(error, path), file: undefined }
  }
}

function count(entries: readonly unknown[], noun: string): string {
  return counted(entries.length, noun)
}

/** One for each line of the message, which is a line of the file. */
function faultsOf(error: unknown, path: string): Finding[] {
  const docs = 'docs/reference/configuration.md#gatewayyaml'
  if (error instanceof Error && error.cause !== undefined)
    return [
      wrong('gateway_yaml.unreadable', messagesIn(error), {
        why: 'The gateway does not start without it.',
        fix: 'Correct GATEWAY_CONFIG, or let this user read the file.',
        run: `ls -l ${inShell(path)}`,
        docs,
      }),
    ]
  return messagesIn(error)
    .split('\n')
    .map((line) => {
      const variable = /needs the environment variable (\w+)/.exec(line)?.[1]
      return variable === undefined
        ? wrong('gateway_yaml.refused', line, {
            why: 'The gateway does not start with it; one that runs keeps what was in force.',
            fix: 'Correct the line. Then see what the file changes:',
            run: `tollgate apply ${inShell(path)}`,
            docs,
          })
        : wrong('gateway_yaml.variable', line, {
            why: `The file says \${${variable}}, and the environment has no such variable.`,
            fix: `Set ${variable} in the environment of the gateway.`,
            docs,
          })
    })
}
