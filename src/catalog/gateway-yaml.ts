import { checkAwsKeys, readCredentials } from './credential-files.ts'
import { EntryReader } from './entry-reader.ts'
import { channelEntry, type GatewayFile, groupEntry, tenantEntry } from './gateway-file.ts'
import { modelEntry } from './model-entry.ts'
import { type ConnectionSurroundings, readConnection } from './read-connection.ts'
import { checkAliases, checkNames, checkReferences, checkSecrets } from './references.ts'
import { readYaml, renderPath, type YamlProblem } from './yaml-source.ts'

/**
 * Parses gateway.yaml. `path` is only used in messages, `${NAME}` is looked up in `env`, and the files that
 * it names are read with `readFile`. Throws one Error with a line for each problem, such as
 * `gateway.yaml:12: channels[0].weight: must be …`.
 */
export function readGatewayYaml(
  text: string,
  {
    path,
    env,
    readFile = notHere,
    bounds,
  }: { path: string; env: Record<string, string | undefined> } & Partial<ConnectionSurroundings>,
): GatewayFile {
  const reader = new EntryReader(readYaml(text, env))
  const sections = reader.sections()
  const file = {
    models: reader.entries('models', sections.models, modelEntry),
    channels: reader.entries('channels', sections.channels, channelEntry),
    groups: reader.entries('groups', sections.groups, groupEntry),
    tenants: reader.entries('tenants', sections.tenants, tenantEntry),
  }
  checkNames(reader, sections)
  checkAliases(reader, sections)
  checkReferences(reader, sections, file)
  checkSecrets(reader, file)
  const channels = file.channels.map(({ entry, path }) => {
    const { connection: _, ...channel } = entry
    const connection = readConnection(reader, { entry, path }, { readFile, bounds })
    const credentials = readCredentials(reader, { entry, path }, readFile)
    checkAwsKeys(reader, { entry: { ...entry, credentials }, path })
    return { ...channel, credentials, ...(connection !== undefined && { connection }) }
  })
  if (reader.problems.length > 0) throw new Error(render(path, reader.problems))

  const models = file.models.map(({ entry }) => entry)
  // A channel that passes any name through does not need the entry `*` in `models`; without the entry there
  // is no price.
  const passesAny = channels.some((channel) => channel.offers.some((offer) => offer.model === '*'))
  if (passesAny && !models.some((model) => model.id === '*')) models.push(modelEntry.parse({ id: '*' }))
  return {
    revision: sections.revision,
    ...(sections.prices !== undefined && { prices: sections.prices }),
    models,
    channels,
    groups: file.groups.map(({ entry }) => entry),
    tenants: file.tenants.map(({ entry }) => entry),
  }
}

function notHere(): never {
  throw new Error('files cannot be read here')
}

function render(file: string, problems: YamlProblem[]): string {
  return problems
    .toSorted((a, b) => a.line - b.line)
    .map(({ path, line, message }) =>
      path.length === 0 ? `${file}:${line}: ${message}` : `${file}:${line}: ${renderPath(path)}: ${message}`,
    )
    .join('\n')
}
