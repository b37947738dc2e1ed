import type { GatewayFile } from '../catalog/gateway-file.ts'
import { readGatewaySource } from '../catalog/gateway-source.ts'
import type { Config } from '../config.ts'
import { type Finding, findingsOf, inShell, wordsOf } from './finding.ts'

const { well, warning, wrong } = findingsOf('gateway.yaml')

/** Read the file as a start would. `file` is undefined where there is none, or a start would refuse it. */
export function checkGatewayFile(
  { gatewayConfig: path, bounds }: Config,
  env: Readonly<Record<string, string | undefined>>,
): { findings: Finding[]; file: GatewayFile | undefined } {
  if (path === undefined) {
    const what = 'GATEWAY_CONFIG is not set: what stands in the database counts, or the demo channel'
    return { findings: [well('gateway_yaml.none', what)], file: undefined }
  }
  try {
    const file = readGatewaySource(path, { ...env }, bounds).parse()
    const { models, channels, groups, tenants } = file
    const what = `${path}: ${[count(models, 'model'), count(channels, 'channel'), count(groups, 'group'), count(tenants, 'tenant')].join(', ')}`
    return { findings: [well('gateway_yaml.read', what), ...unsizedModels(file), ...unseenOf(file)], file }
  } catch (error) {
    return { findings: faultsOf(error, path), file: undefined }
  }
}

/** Models without a context length, where money is limited. */
function unsizedModels({ models, tenants, groups }: GatewayFile): Finding[] {
  const isLimited =
    groups.some(({ budget }) => budget !== undefined) ||
    tenants.some(
      ({ balance, keys }) => balance !== undefined || keys.some(({ budget }) => budget !== undefined),
    )
  const unsized = models.filter(
    ({ contextLength, price }) => contextLength === undefined && price?.output !== undefined,
  )
  if (!isLimited || unsized.length === 0) return []
  return [
    warning(
      'gateway_yaml.context_length',
      `no context_length: ${unsized.map(({ id }) => `"${id}"`).join(', ')}`,
      {
        why: 'Keys whose money is limited get a 403 for requests with files, searches or members that are not known to be plain.',
        fix: 'Give these models a context_length, or list the members in plain_members.',
        docs: 'docs/reference/limits.md#input-that-the-body-does-not-contain',
      },
    ),
  ]
}

/** Groups whose clients may leave calls that run on, at their own cost. */
function unseenOf({ groups, tenants }: GatewayFile): Finding[] {
  const isLimited = ({ name, budget }: GatewayFile['groups'][number]) =>
    tenants.some(({ balance, keys }) =>
      keys.some((key) => key.group === name && (balance ?? key.budget ?? budget) !== undefined),
    )
  return groups
    .filter((group) => group.clientGone.policy === 'abort' && isLimited(group))
    .map(({ name, clientGone: { unseen } }) =>
      well(
        'gateway_yaml.unseen',
        `group ${name}: who leaves before an answer is charged an estimate${unseen === 'hold' ? ', once its money was held for UPSTREAM_TOTAL_MS' : ''} (client_gone.unseen)`,
      ),
    )
}

function count(entries: readonly unknown[], noun: string): string {
  return `${entries.length} ${noun}${entries.length === 1 ? '' : 's'}`
}

/** One for each line of the message, which is a line of the file. */
function faultsOf(error: unknown, path: string): Finding[] {
  const docs = 'docs/reference/configuration.md#gatewayyaml'
  if (error instanceof Error && error.cause !== undefined)
    return [
      wrong('gateway_yaml.unreadable', wordsOf(error), {
        why: 'The gateway does not start without it.',
        fix: 'Correct GATEWAY_CONFIG, or let this user read the file.',
        run: `ls -l ${inShell(path)}`,
        docs,
      }),
    ]
  return wordsOf(error)
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
