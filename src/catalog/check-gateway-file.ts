import { counted } from '../canonical/counted.ts'
import { type Finding, findingsOf, inShell, messagesIn } from '../canonical/finding.ts'
import type { Config } from '../config/config.ts'
import type { GatewayFile } from './gateway-file.ts'
import { readGatewaySource } from './gateway-source.ts'

const { well, wrong } = findingsOf('gateway.yaml')

/** Reads the file as a start would. `file` is undefined if there is none, or if a start would reject it. */
export function gatewayFileFindings(
  { gatewayConfig: path, bounds }: Config,
  env: Readonly<Record<string, string | undefined>>,
): { findings: Finding[]; file: GatewayFile | undefined } {
  if (path === undefined) {
    const what = 'GATEWAY_CONFIG is not set; the rows of the database apply, or the demo channel'
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

/** Returns a finding for each line of the message, which stands for a line of the file. */
function faultsOf(error: unknown, path: string): Finding[] {
  const docs = 'docs/reference/configuration.md#gatewayyaml'
  if (error instanceof Error && error.cause !== undefined)
    return [
      wrong('gateway_yaml.unreadable', messagesIn(error), {
        why: 'The gateway cannot start without it.',
        fix: 'Correct GATEWAY_CONFIG, or allow this user to read the file.',
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
            why: 'The gateway cannot start with it. A running gateway keeps the settings that were in force.',
            fix: 'Correct the line. Then show what the file would change:',
            run: `tollgate apply ${inShell(path)}`,
            docs,
          })
        : wrong('gateway_yaml.variable', line, {
            why: `The file refers to \${${variable}}, but the environment has no such variable.`,
            fix: `Set ${variable} in the gateway's environment.`,
            docs,
          })
    })
}
